"""An id of the caller's own is one sample's in its deck, however often and from where it comes."""

import json
import random
from typing import Any

import pytest

from autotune_platform.decks import sample_repository
from autotune_platform.decks.external_ids import ExternalIds
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.decks import chat, new_deck, new_samples
from tests.support.lambdas import Answer
from tests.support.platform import Platform


class Deck:
    """A deck to which samples with ids of the caller's own come."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.id: str = new_deck(platform)["id"]
        self.path = f"/api/v1/decks/{self.id}"

    def add(self, *samples: dict[str, Any]) -> Answer:
        return self.platform.call("POST", f"{self.path}/samples", {"samples": list(samples)})

    def upload(self, *samples: dict[str, Any], key: str | None = None) -> Answer:
        raw = "\n".join(json.dumps(one, ensure_ascii=False) for one in samples).encode()
        headers = {"idempotency-key": key} if key else {}
        path = f"{self.path}/samples/bulk"
        return self.platform.call("POST", path, raw=raw, headers=headers)

    def listed(self, **query: Any) -> list[dict[str, Any]]:
        answer = self.platform.call("GET", f"{self.path}/samples", query={"limit": 200, **query})
        assert answer.status == 200, answer.text
        found: list[dict[str, Any]] = answer.json["samples"]
        return found

    def count(self) -> int:
        return int(self.platform.call("GET", self.path).json["deck"]["samples"])


@pytest.fixture
def deck(platform: Platform) -> Deck:
    return Deck(platform)


def row(number: int, **fields: Any) -> dict[str, Any]:
    named = {"externalId": f"row {number}"}
    return {"input": f"question {number}", "output": f"answer {number}", **named, **fields}


def test_the_same_id_with_the_same_content_is_the_same_sample(deck: Deck) -> None:
    added = deck.add(row(1), row(2, metadata={"b": 1, "a": None})).json["samples"]
    ids = [one["id"] for one in added]
    assert [one["externalId"] for one in added] == ["row 1", "row 2"]
    again = deck.add(row(2, metadata={"a": None, "b": 1}), row(3), row(1))
    assert again.status == 201, again.text
    assert [one["id"] for one in again.json["samples"]][::2] == ids[::-1]
    version = deck.platform.call("POST", f"{deck.path}/versions", {"systemPrompt": "Another."})
    assert version.status == 201
    uploaded = deck.upload(row(1), row(4), row(1), row(4)).json
    assert (uploaded["accepted"], uploaded["rejected"]) == (4, [])
    first, fourth, *more = uploaded["sampleIds"]
    assert (first, more) == (ids[0], [first, fourth])
    assert deck.count() == len(deck.listed()) == 4
    read = deck.platform.call("GET", f"{deck.path}/samples/{first}").json["sample"]
    assert (read["externalId"], read["deckVersion"]) == ("row 1", 1)
    other = Deck(deck.platform)
    assert other.add(row(1, output="x")).status == 201, "an id is one deck's"


def test_other_content_is_refused_by_line_and_field(deck: Deck) -> None:
    kept = row(1, groupKey="g", model="m")
    (stored,) = deck.add(kept).json["samples"]
    assert deck.add(kept).status == 201
    without_group = {name: value for name, value in kept.items() if name != "groupKey"}
    assert deck.add(without_group, {**kept, "deckVersion": 1}).status == 201
    for changes in (
        {"output": "another"},
        {"input": "another"},
        {"model": "other"},
        {"provider": "p"},
        {"metadata": {"a": 1}},
        {"groupKey": "h"},
        {"requestedAt": "2026-01-31T00:00:00Z"},
    ):
        refused = deck.add(row(5), {**kept, **changes})
        assert (refused.status, list(refused.fields)) == (422, ["samples[1].externalId"]), changes
        assert stored["id"] in refused.fields["samples[1].externalId"]
    uploaded = deck.upload(row(1, output="x"), row(2), row(3), row(2, output="x")).json
    assert uploaded["accepted"] == 2
    assert [(one["line"], one["field"]) for one in uploaded["rejected"]] == [
        (1, "externalId"),
        (4, "externalId"),
    ]
    for name in ("", "x" * 201, 7, "\ud800"):
        refused = deck.add({**row(1), "externalId": name})
        assert (refused.status, list(refused.fields)) == (422, ["samples[0].externalId"])
    assert deck.count() == 3


def test_the_sample_with_an_id_is_found_without_a_walk(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = deck.add(*(row(n, model="m") for n in range(5))).json["samples"]
    deck.add({"input": "i", "output": "o"})
    monkeypatch.delattr(SampleRepository, "page")
    (found,) = deck.listed(externalId="row 3")
    assert found == added[3]
    assert deck.listed(externalId="row 3", model="m", split=found["split"]) == [found]
    assert deck.listed(externalId="row 3", model="n") == []
    assert deck.listed(externalId="row 7") == []
    path = f"{deck.path}/samples"
    assert deck.platform.call("GET", path, query={"externalId": ""}).status == 422


@pytest.mark.parametrize("differs", [False, True])
def test_of_two_requests_at_a_time_one_has_the_id(
    deck: Deck, monkeypatch: pytest.MonkeyPatch, differs: bool
) -> None:
    chance = random.Random(1)
    noise = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(200_000))
    mine = [row(1, output=noise), row(2)]
    theirs = row(1, output="other" if differs else noise)
    won = deck.upload(theirs).json["sampleIds"]
    find, looks = ExternalIds.find, []

    def early(self: ExternalIds, deck_id: str, external_ids: Any) -> Any:
        looks.append(deck_id)  # the first time as if the other request had not written yet
        return find(self, deck_id, external_ids) if len(looks) > 1 else {}

    monkeypatch.setattr(ExternalIds, "find", early)
    answer = deck.upload(*mine, key="k")
    assert len(looks) == 2, "it found out when it wrote"
    if differs:
        assert [(one["line"], one["field"]) for one in answer.json["rejected"]] == [
            (1, "externalId")
        ]
        assert answer.json["accepted"] == 1
    else:
        assert answer.json["accepted"] == 2
        assert answer.json["sampleIds"][0] == won[0]
    assert deck.upload(*mine, key="k").json == answer.json
    assert deck.count() == len(deck.listed()) == 2
    read = deck.platform.call("GET", f"{deck.path}/samples/{won[0]}").json["sample"]
    said = read["response"]["choices"][0]["message"]["content"]
    assert said == theirs["output"]
    stored = clients.s3().list_objects_v2(Bucket="content").get("Contents", [])
    assert len(stored) == (0 if differs else 1), "nothing is left of the attempt that came late"


def test_an_id_is_free_again_once_its_sample_is_deleted(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = deck.add(row(1)).json["samples"]
    path = f"{deck.path}/samples/{first['id']}"

    def killed(self: Table, pk: str, sk: str) -> None:
        if sk == "content":
            raise ConnectionError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(Table, "delete", killed)
        assert deck.platform.call("DELETE", path).status == 500
    (second,) = deck.add(row(1, output="other")).json["samples"]
    assert second["id"] != first["id"], "one that is half gone keeps no id"
    assert deck.platform.call("DELETE", path).status == 204
    assert [one["id"] for one in deck.listed(externalId="row 1")] == [second["id"]]
    assert deck.platform.call("DELETE", f"{deck.path}/samples/{second['id']}").status == 204
    assert deck.listed(externalId="row 1") == []
    names = [item["sk"] for item in Table("decks", clients.dynamodb()).items(deck.id)]
    assert not [name for name in names if name.startswith("external#")]
    assert deck.count() == 0


def test_a_full_deck_knows_the_samples_that_it_has(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_repository, "MAX_DECK_SAMPLES", 40)
    rows = [row(n) for n in range(50)]
    uploaded = deck.upload(*rows, row(0), row(49)).json
    assert uploaded["accepted"] == 41
    assert [one["line"] for one in uploaded["rejected"]] == [*range(41, 51), 52]
    assert deck.upload(*rows[:40]).json["accepted"] == 40
    assert deck.count() == 40


def test_samples_that_find_their_deck_keep_their_ids(deck: Deck) -> None:
    system = "You summarise a report for a child.\nBe brief."
    sample = chat("q", output="a", system=system, externalId="r")
    (stored,) = new_samples(deck.platform, deck.id, sample)
    lines = [sample, chat("q", output="b", system=system, externalId="r")]
    raw = "\n".join(json.dumps(one) for one in lines).encode()
    answer = deck.platform.call("POST", "/api/v1/samples", raw=raw).json
    assert [one["sampleId"] for one in answer["samples"]] == [stored["id"]]
    (rejected,) = answer["rejected"]
    assert (rejected["line"], "externalId" in rejected["expected"]) == (2, True)
    assert deck.count() == 1
