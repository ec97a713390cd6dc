"""Samples are taken in once, converted, and in one half for good."""

import random
from collections import Counter
from typing import Any

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune_platform.decks import sample_intake, sample_repository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.decks import RUBRIC, chat, new_deck, new_deck_grader, new_samples
from tests.support.platform import Platform
from tests.support.tables import items_of_tables


@pytest.fixture
def deck(platform: Platform) -> str:
    """A deck without samples."""
    made: str = new_deck(platform)["id"]
    return made


@pytest.fixture
def path(deck: str) -> str:
    """The path of its samples."""
    return f"/api/v1/decks/{deck}/samples"


def pair(number: int, **fields: Any) -> dict[str, Any]:
    return {"input": f"question {number}", "output": f"answer {number}", **fields}


def test_samples_of_both_shapes_are_kept_whole_and_listed_newest_first(
    platform: Platform, deck: str, path: str
) -> None:
    asked = chat(
        "First?", "Yes.", "And now?", output="No.", provider="p", metadata={"a": None, "b": 1e-300}
    )
    asked["request"]["tools"] = [{"type": "function", "function": {"name": "f"}}]
    asked["response"]["usage"] = {"total_tokens": 9}
    parts = chat("x", output="ok", model="mine", requestedAt="2026-01-31T00:00:00Z")
    parts["request"]["messages"][0]["content"] = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:"}},
        {"type": "text", "text": "what is it?"},
    ]
    first, second, third = new_samples(platform, deck, asked, pair(1), parts)
    assert first.items() >= {"provider": "p", "model": "m-1", "deckVersion": 1}.items()
    assert (first["inputExcerpt"], first["outputExcerpt"]) == ("And now?", "No.")
    assert (first["inputCharacters"], first["outputCharacters"]) == (18, 3)
    assert (third["model"], third["inputExcerpt"]) == ("mine", "Look:\nwhat is it?")
    assert third["requestedAt"] == "2026-01-31T00:00:00Z"

    read = platform.call("GET", f"{path}/{first['id']}").json["sample"]
    assert (read["request"], read["response"]) == (asked["request"], asked["response"])
    assert read["metadata"] == {"a": None, "b": 1e-300}
    made = platform.call("GET", f"{path}/{second['id']}").json["sample"]
    assert made["request"] == {"messages": [{"role": "user", "content": "question 1"}]}
    assert made["response"]["choices"][0]["message"]["content"] == "answer 1"
    assert made["model"] is None

    listed = platform.call("GET", path, query={"limit": 2})
    assert listed.json["samples"] == [third, second]
    rest = platform.call("GET", path, query={"nextToken": listed.json["nextToken"]})
    assert rest.json["samples"] == [first]
    assert rest.json["nextToken"] is None
    assert platform.call("GET", f"/api/v1/decks/{deck}").json["deck"]["samples"] == 3


def test_lists_are_filtered_by_half_and_model(platform: Platform, deck: str, path: str) -> None:
    models = ("a", "b")
    added = new_samples(platform, deck, *(pair(n, model=models[n % 2]) for n in range(60)))

    def found(**query: Any) -> list[str]:
        ids: list[str] = []
        token = None
        while True:
            asked = {**query, "limit": 7, **({"nextToken": token} if token else {})}
            answer = platform.call("GET", path, query=asked)
            assert answer.status == 200, answer.text
            assert len(answer.json["samples"]) <= 7
            ids += [one["id"] for one in answer.json["samples"]]
            token = answer.json["nextToken"]
            if token is None:
                return ids

    newest = added[::-1]
    for split in ("development", "holdout"):
        expected = [one["id"] for one in newest if one["split"] == split]
        assert found(split=split) == expected
        assert 10 <= len(expected) <= 50
    expected = [one["id"] for one in newest if one["model"] == "b" and one["split"] == "holdout"]
    assert found(split="holdout", model="b") == expected
    assert found(model="c") == []
    for query, field in [
        ({"split": "other"}, "split"),
        ({"spilt": "holdout"}, "spilt"),
        ({"nextToken": "e30"}, "nextToken"),
    ]:
        answer = platform.call("GET", path, query=query)
        assert (answer.status, list(answer.fields)) == (422, [field])


def test_a_group_is_in_one_half_whatever_else_differs(platform: Platform, deck: str) -> None:
    prompt = "You summarise {{document}} for {{reader}}.\nBe brief."
    turns = [
        chat("Begin.", output="1", system="You summarise A for B.  \nBe brief.\n"),
        chat("Begin.", "1", "Go on.", output="2", system="You summarise A for B.\nBe brief."),
        chat("Begin.", "1", "Go on.", "2", "More.", output="3"),
        chat("Begin.", output="1", system="You summarise C for B.\nBe brief."),
        chat("Other.", output="1", system="You summarise A for B.\nBe brief."),
    ]
    assert platform.call("GET", f"/api/v1/decks/{deck}").json["deck"]["systemPrompt"] == prompt
    groups = [one["groupKey"] for one in new_samples(platform, deck, *turns)]
    assert groups[0] == groups[1], "turns of one conversation, with the same values"
    assert len(set(groups)) == 4

    given = new_samples(platform, deck, *(pair(n, groupKey=f"doc-{n % 20}") for n in range(100)))
    halves = Counter((one["groupKey"], one["split"]) for one in given)
    assert len(halves) == 20, "no group is in both halves"
    assert set(halves.values()) == {5}
    assert len({split for _, split in halves}) == 2
    again = new_deck(platform, systemPrompt="Another.")["id"]
    same = new_samples(platform, again, *(pair(n, groupKey=f"doc-{n % 20}") for n in range(100)))
    assert [one["split"] for one in same] == [one["split"] for one in given]
    assert "doc-1" not in str(given), "keys of callers are hashed"


@pytest.mark.parametrize(("share", "halves"), [(0, {"development"}), (1, {"holdout"})])
def test_all_or_nothing_may_be_held_out(platform: Platform, share: float, halves: set[str]) -> None:
    deck = new_deck(platform, holdoutShare=share)["id"]
    added = new_samples(platform, deck, *(pair(n) for n in range(30)))
    assert {one["split"] for one in added} == halves


def test_the_same_texts_are_flagged_and_never_merged(
    platform: Platform, deck: str, path: str
) -> None:
    first, second = new_samples(platform, deck, pair(1), pair(1, model="other"))
    (third, new) = new_samples(platform, deck, pair(1), pair(2))
    assert first["duplicateOf"] is None
    assert [one["duplicateOf"] for one in (second, third)] == [first["id"]] * 2
    assert new["duplicateOf"] is None
    assert first["contentHash"] == third["contentHash"] != new["contentHash"]
    assert platform.call("DELETE", f"{path}/{first['id']}").status == 204
    (fourth,) = new_samples(platform, deck, pair(1))
    assert fourth["duplicateOf"] is None, "none is there whose texts came first"


def test_a_request_that_comes_twice_stores_its_samples_once(
    platform: Platform, deck: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_intake, "AT_A_TIME", 2)
    add = sample_repository.SampleRepository.add
    calls = []

    def interrupted(self: Any, deck_id: str, samples: Any) -> Any:
        calls.append(samples)
        if len(calls) == 2:
            raise ConnectionError("killed")
        return add(self, deck_id, samples)

    body = {"samples": [pair(n // 2) for n in range(5)]}
    key = {"Idempotency-Key": "k"}
    monkeypatch.setattr(sample_repository.SampleRepository, "add", interrupted)
    assert platform.call("POST", path, body, headers=key).status == 500
    whole = platform.call("POST", path, body, headers=key)
    assert whole.status == 201
    again = platform.call("POST", path, body, headers=key)
    assert again.json == whole.json
    assert [one["inputExcerpt"] for one in whole.json["samples"]] == [
        f"question {n // 2}" for n in range(5)
    ]
    assert platform.call("GET", f"/api/v1/decks/{deck}").json["deck"]["samples"] == 5
    other = platform.call("POST", path, {"samples": [pair(9)]}, headers=key)
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


def test_large_texts_live_in_the_bucket_and_go_with_their_sample(
    platform: Platform, deck: str, path: str
) -> None:
    chance = random.Random(1)
    noise = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(200_000))
    (large,) = new_samples(platform, deck, {"input": noise, "output": "o", "externalId": "1"})
    (key,) = _objects()
    assert key == f"content/{deck}/{large['id']}"
    read = platform.call("GET", f"{path}/{large['id']}").json["sample"]
    assert read["request"]["messages"][0]["content"] == noise
    assert platform.call("DELETE", f"{path}/{large['id']}").status == 204
    assert _objects() == []
    for method in ("GET", "DELETE"):
        assert platform.call(method, f"{path}/{large['id']}").status == 404
    of_decks = [one for one in items_of_tables()["decks"] if "org_" not in one["pk"]["S"]]
    kinds = {item["sk"]["S"].split("#")[0] for item in of_decks}
    assert kinds == {"deck", "version", "counts"}, "nothing is left of it"
    assert platform.call("GET", f"/api/v1/decks/{deck}").json["deck"]["samples"] == 0


def test_what_was_said_of_a_sample_goes_with_it(platform: Platform, deck: str, path: str) -> None:
    first, second = new_samples(platform, deck, pair(1), pair(2))
    grader = new_deck_grader(platform, deck)
    other = {"rubric": {**RUBRIC, "criteria": "Another?"}}
    versions = f"/api/v1/decks/{deck}/graders/{grader['id']}/versions"
    assert platform.call("POST", versions, other).status == 201
    table = Table("decks", clients.dynamodb())
    kinds = ("result#000001#{}", "result#000002#{}", "truth#{}", "feedback#{}#a", "feedback#{}#b#1")
    for sample in (first, second):
        for kind in kinds:
            sk = kind.format(sample["id"])
            table.put({"pk": grader["id"], "sk": sk})
            if kind.startswith("result#"):
                lead = {"grader_id": grader["id"], "result_sk": sk}
                table.put({"pk": sample["id"], "sk": f"result#{sk}", **lead})
    assert platform.call("DELETE", f"{path}/{first['id']}").status == 204
    left = {item["sk"] for item in table.items(grader["id"])}
    assert left == {kind.format(second["id"]) for kind in kinds}
    assert not list(table.items(first["id"]))
    assert platform.call("DELETE", f"/api/v1/decks/{deck}").status == 204


def _objects() -> list[str]:
    listed = boto3.client("s3").list_objects_v2(Bucket="content")
    return [one["Key"] for one in listed.get("Contents", [])]


def test_a_deck_takes_only_so_many_samples(
    platform: Platform, deck: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sample_intake, sample_repository):
        monkeypatch.setattr(module, "MAX_DECK_SAMPLES", 3)
    new_samples(platform, deck, pair(1), pair(2))
    refused = platform.call("POST", path, {"samples": [pair(3), pair(4)]})
    assert (refused.status, refused.json["code"]) == (409, "limit_reached")
    assert refused.json["limit"]["maximum"] == 3
    assert platform.call("GET", f"/api/v1/decks/{deck}").json["deck"]["samples"] == 2
    new_samples(platform, deck, pair(3))


def test_what_is_wrong_with_a_sample_is_named_and_none_is_stored(
    platform: Platform, deck: str, path: str
) -> None:
    whole = chat("q", output="a")
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
    tool = {**whole, "response": {"choices": [{"message": call}]}}
    system_alone = {**whole, "request": {"messages": [{"role": "system", "content": "s"}]}}
    no_answer = {**whole, "response": {"choices": [{"message": {"role": "assistant"}}]}}
    for sample, field in [
        ({"input": "i"}, "output"),
        ({"output": "o"}, "input"),
        ({}, "input"),
        ({**whole, "input": "i"}, "input"),
        ({"request": whole["request"]}, "response"),
        ({"response": whole["response"]}, "request"),
        ({**whole, "request": {"messages": []}}, "request.messages"),
        ({**whole, "request": {"messages": ["x"]}}, "request.messages[0]"),
        ({**whole, "request": {"messages": [{"content": "x"}]}}, "request.messages[0].role"),
        (
            {**whole, "request": {"messages": [{"role": "user", "content": 1}]}},
            "request.messages[0].content",
        ),
        (system_alone, "request.messages"),
        ({**whole, "response": {"choices": []}}, "response.choices"),
        (no_answer, "response.choices[0].message.content"),
        ({**pair(1), "deckVersion": 2}, "deckVersion"),
        ({**pair(1), "groupKey": ""}, "groupKey"),
        ({**pair(1), "split": "holdout"}, "split"),
        ({"input": "x" * 1_000_001, "output": "o"}, "request"),
    ]:
        answer = platform.call("POST", path, {"samples": [pair(0), sample]})
        assert (answer.status, list(answer.fields)) == (422, [f"samples[1].{field}"]), answer.text
    answer = platform.call("POST", path, {"samples": [pair(0)] * 101})
    assert (answer.status, list(answer.fields)) == (422, ["samples"])
    assert platform.call("GET", path).json["samples"] == []
    new_samples(platform, deck, tool)


def test_another_organisations_samples_are_not_there(
    platform: Platform, deck: str, path: str
) -> None:
    (sample,) = new_samples(platform, deck, pair(1))
    mine = new_deck(platform)["id"]
    assert platform.call("GET", f"/api/v1/decks/{mine}/samples/{sample['id']}").status == 404
    other = platform.new_organization("second")
    for method, below, body in [
        ("GET", "", None),
        ("POST", "", {"samples": [pair(1)]}),
        ("GET", f"/{sample['id']}", None),
        ("DELETE", f"/{sample['id']}", None),
        ("GET", f"/{new_id('smp')}", None),
    ]:
        assert platform.call(method, path + below, body, api_key=other).status == 404
    bulk = platform.call("POST", f"{path}/bulk", raw=b"{}", api_key=other)
    assert bulk.status == 404
