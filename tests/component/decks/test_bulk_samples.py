"""An upload of lines stores each that is a sample, and says of each other what is wrong."""

import json
from typing import Any

import pytest

from autotune.protocol.limits import MAX_BULK_SAMPLES
from autotune_platform.decks import sample_repository
from tests.support.decks import chat, new_deck
from tests.support.lambdas import Answer
from tests.support.platform import Platform


class Uploads:
    """Uploads to one deck."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.path = f"/api/v1/decks/{new_deck(platform)['id']}/samples"

    def upload(self, *lines: Any, key: str | None = None) -> Answer:
        written = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        headers = {"content-type": "application/jsonl", **({"idempotency-key": key} if key else {})}
        return self._platform.call(
            "POST", f"{self.path}/bulk", raw=b"\n".join(written), headers=headers
        )

    def stored(self) -> list[str]:
        listed = self._platform.call("GET", self.path, query={"limit": 200}).json["samples"]
        return [one["inputExcerpt"] for one in listed][::-1]


@pytest.fixture
def uploads(platform: Platform) -> Uploads:
    return Uploads(platform)


def test_no_line_is_lost(uploads: Uploads) -> None:
    answer = uploads.upload(
        {"input": "one", "output": "1"},
        b"",
        b"{not json",
        chat("two", output="2"),
        {"input": "three"},
        [1],
        {"input": "four", "output": "4", "\ud800": 1},
        b'{"input": "i", "output": "o", "metadata": {"a": [' + b"1," * 10_001 + b"1]}}",
        {"input": "\ud800", "output": "o"},
        {"input": "five", "output": "5", "metadata": {"n": 5}},
        b"  \r",
    )
    assert answer.status == 201, answer.text
    assert answer.json["accepted"] == len(answer.json["sampleIds"]) == 3
    assert uploads.stored() == ["one", "two", "five"]
    rejected = {one["line"]: one["field"] for one in answer.json["rejected"]}
    assert rejected == {
        3: "line",
        5: "output",
        6: "line",
        7: "line",
        8: "line",
        9: "input",
    }


def test_the_same_upload_again_stores_nothing_more(uploads: Uploads) -> None:
    lines = [{"input": f"{n}", "output": "o"} for n in range(70)]
    first = uploads.upload(*lines, b"x", key="k")
    assert (first.json["accepted"], len(first.json["rejected"])) == (70, 1)
    assert uploads.upload(*lines, b"x", key="k").json == first.json
    assert len(uploads.stored()) == 70
    other = uploads.upload(*lines, key="k")
    assert other.json["code"] == "idempotency_key_reused"


def test_lines_that_find_no_room_are_named(
    uploads: Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_repository, "MAX_DECK_SAMPLES", 35)
    lines = [{"input": f"{n}", "output": "o"} for n in range(40)]
    answer = uploads.upload(*lines, key="k")
    assert answer.json["accepted"] == 35
    assert [one["line"] for one in answer.json["rejected"]] == [36, 37, 38, 39, 40]
    assert "at most" in answer.json["rejected"][0]["expected"]
    assert len(uploads.stored()) == 35
    monkeypatch.setattr(sample_repository, "MAX_DECK_SAMPLES", 100)
    assert uploads.upload(*lines, key="k").json["accepted"] == 40, "there is room now"


def test_an_upload_has_lines_and_not_too_many(uploads: Uploads) -> None:
    assert list(uploads.upload(b" ", b"").fields) == ["body"]
    lines = [b"{}"] * (MAX_BULK_SAMPLES + 1)
    refused = uploads.upload(*lines)
    assert (refused.status, refused.json["limit"]["maximum"]) == (413, MAX_BULK_SAMPLES)
