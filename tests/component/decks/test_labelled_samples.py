"""One file brings samples and what people said of them."""

import json
from typing import Any

import pytest

from autotune.protocol.limits import MAX_BULK_LABELS
from autotune_platform.decks.labels.repository import LabelRepository
from tests.support.decks import new_deck, new_deck_grader
from tests.support.lambdas import Answer
from tests.support.platform import Platform


class Deck:
    """A deck that only measures, with two graders."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.path = f"/api/v1/decks/{new_deck(platform, holdoutShare=1)['id']}"
        self.deck_id = self.path.split("/")[4]
        self.graders = {
            name: new_deck_grader(platform, self.deck_id, name=name)["id"]
            for name in ("faithful", "short")
        }

    def upload(self, *lines: dict[str, Any], key: str | None = None) -> Answer:
        raw = "\n".join(json.dumps(one) for one in lines).encode()
        headers = {"idempotency-key": key} if key else {}
        path = f"{self.path}/samples/bulk"
        return self.platform.call("POST", path, raw=raw, headers=headers)

    def truths(self, grader: str) -> dict[str, Any]:
        path = f"{self.path}/graders/{self.graders[grader]}/truth"
        answer = self.platform.call("GET", path, query={"limit": 200})
        assert answer.status == 200, answer.text
        return {one["sampleId"]: one for one in answer.json["truths"]}


@pytest.fixture
def deck(platform: Platform) -> Deck:
    return Deck(platform)


def row(number: int, *labels: dict[str, Any], **fields: Any) -> dict[str, Any]:
    named = {"externalId": f"row {number}", **({"labels": labels} if labels else {})}
    return {"input": f"question {number}", "output": f"answer {number}", **named, **fields}


def label(score: Any, grader: str = "faithful", rater: str = "anna", **fields: Any) -> Any:
    return {"grader": grader, "score": score, "rater": rater, "selection": "random", **fields}


def test_one_file_brings_samples_and_their_labels(deck: Deck) -> None:
    lines = [
        row(1, label(2, explanation="yes"), label(-1, deck.graders["short"])),
        row(2, label("not_applicable"), label(1, rater="ben", selection="chosen")),
        row(3),
    ]
    first = deck.upload(*lines).json
    assert (first["accepted"], first["rejected"]) == (3, [])
    counts = {"accepted": 4, "repeated": 0, "notBlind": 0, "chosen": 1, "rejected": []}
    assert first["labels"] == counts
    one, two, _ = first["sampleIds"]
    truths = deck.truths("faithful")
    assert (truths[one]["score"], truths[two]["doesNotApply"]) == (2, True)
    assert {id_: found["score"] for id_, found in deck.truths("short").items()} == {one: -1}
    (rating,) = truths[one]["ratings"]
    assert (rating["rater"], rating["sawResult"], rating["counts"]) == ("anna", False, True)

    again = deck.upload(*lines).json
    assert again == {**first, "labels": {**counts, "accepted": 0, "repeated": 4, "chosen": 0}}
    more = deck.upload(row(1, label(2, explanation="yes")), row(3, label(0))).json["labels"]
    assert (more["accepted"], more["repeated"]) == (1, 1)
    assert deck.upload(row(4)).json["labels"] is None


def test_what_is_wrong_with_labels_is_named_by_line_and_field(deck: Deck) -> None:
    new_deck_grader(deck.platform, deck.deck_id, name="short")
    faulty = [
        (row(1, label(4)), "labels[0].score"),
        (row(2, label(1), {"grader": "faithful"}), "labels[1].score"),
        (row(3, label(1, grader="other")), "labels[0].grader"),
        (row(4, label(1, grader="short")), "labels[0].grader"),
        (row(5, label(1), label(2)), "labels[1].rater"),
        (row(6, label(1, selection="some")), "labels[0].selection"),
        (row(7, label(1.5)), "labels[0].score"),
    ]
    done = deck.upload(*(line for line, _ in faulty), row(8, label(1))).json
    assert [(one["line"], one["field"]) for one in done["rejected"]] == [
        (place, field) for place, (_, field) in enumerate(faulty, 1)
    ]
    assert (done["accepted"], done["labels"]["accepted"]) == (1, 1)
    assert list(deck.truths("faithful")) == done["sampleIds"]

    twice = deck.upload(row(9, label(1)), row(9, label(1)), row(9, label(2))).json
    assert twice["accepted"] == 3
    assert (twice["labels"]["accepted"], twice["labels"]["repeated"]) == (1, 1)
    (rejected,) = twice["labels"]["rejected"]
    assert (rejected["line"], rejected["field"]) == (3, "labels[0].rater")
    assert deck.upload(row(10, label(1, selection="chosen"))).json["labels"]["accepted"] == 1
    drawn = deck.upload(row(10, label(1))).json["labels"]
    (rejected,) = drawn["rejected"]
    assert (rejected["line"], rejected["field"]) == (1, "labels[0].selection")

    many = [row(n, *(label(0, rater=f"r{m}") for m in range(100))) for n in range(11)]
    refused = deck.upload(*many)
    assert (refused.status, refused.json["limit"]["maximum"]) == (413, MAX_BULK_LABELS)
    for path, body in (
        (f"{deck.path}/samples", {"samples": [row(10, label(1))]}),
        ("/api/v1/samples", row(10, label(1))),
    ):
        answer = deck.platform.call("POST", path, body)
        assert "labels" in answer.text, "only lines of a deck bring labels"


def test_a_killed_upload_is_gone_on_with(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [row(n, label(n % 4), externalId=None) for n in range(8)]

    def killed(self: LabelRepository, writes: Any) -> bool:
        raise ConnectionError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(LabelRepository, "store", killed)
        assert deck.upload(*lines, key="k").status == 500
    done = deck.upload(*lines, key="k").json
    assert (done["accepted"], done["labels"]["accepted"]) == (8, 8)
    assert [deck.truths("faithful")[id_]["score"] for id_ in done["sampleIds"]] == [0, 1, 2, 3] * 2
    again = deck.upload(*lines, key="k").json["labels"]
    assert (again["accepted"], again["repeated"]) == (0, 8)
