"""Records of a stream, read once, and handed to those who follow their kind."""

import base64
from collections.abc import Sequence
from typing import Any

import pytest

from autotune_platform.storage.changes import Change, ChangeKind, Route, Router
from autotune_platform.storage.item_format import item_to_wire

NEW_NOTES = ChangeKind("INSERT", "note#")
GONE_NOTES = ChangeKind("REMOVE", "note#")


def record(event: str, sk: str, *, pk: str = "a", **described: Any) -> dict[str, Any]:
    keys = item_to_wire({"pk": pk, "sk": sk})
    return {"eventName": event, "dynamodb": {"Keys": keys, **described}}


class Follower:
    """Keeps what it is handed; fails where it is to."""

    def __init__(self, *, failure: Exception | None = None) -> None:
        self.calls: list[list[str]] = []
        self.failure = failure

    def follow(self, changes: Sequence[Change]) -> None:
        self.calls.append([change.sk for change in changes])
        if self.failure is not None:
            raise self.failure


def test_a_change_has_its_items_as_plain_values() -> None:
    before, after = ({"pk": "a", "sk": "note#1", "size": size} for size in (1, 2))
    images = {"OldImage": item_to_wire(before), "NewImage": item_to_wire(after)}
    change = Change.from_record(record("MODIFY", "note#1", **images))
    assert change == Change(event="MODIFY", pk="a", sk="note#1", old=before, new=after)


def test_bytes_that_lambda_passes_on_as_text_are_bytes_again() -> None:
    image = {"body": {"B": base64.b64encode(b"\0\xff").decode()}}
    assert Change.from_record(record("INSERT", "content", NewImage=image)).new == {
        "body": b"\0\xff"
    }


@pytest.mark.parametrize(
    ("user", "expired"),
    [
        ({"userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"}}, True),
        ({"userIdentity": {"type": "Service", "principalId": "replication"}}, False),
        ({"userIdentity": None}, False),
        ({}, False),
    ],
)
def test_a_removal_says_whether_its_time_was_over(user: dict[str, Any], *, expired: bool) -> None:
    change = Change.from_record({**record("REMOVE", "content"), **user})
    assert (change.by_time_to_live, change.new, change.old) == (expired, {}, {})


def test_a_handler_gets_its_own_changes_together_in_the_order_of_the_stream() -> None:
    both, gone = Follower(), Follower()
    router = Router(Route([NEW_NOTES, GONE_NOTES], lambda: both), Route([GONE_NOTES], lambda: gone))
    events = [("INSERT", "note#2"), ("REMOVE", "note#3"), ("MODIFY", "note#4"), ("INSERT", "other")]
    router.route([*(record(*event) for event in events), record("INSERT", "note#1")])
    assert both.calls == [["note#2", "note#3", "note#1"]]
    assert gone.calls == [["note#3"]]
    assert router.kinds == [NEW_NOTES, GONE_NOTES, GONE_NOTES]


def test_a_handler_without_changes_is_not_even_made() -> None:
    Router(Route([NEW_NOTES], pytest.fail)).route([record("REMOVE", "note#1")])


def test_a_handler_that_fails_does_not_keep_the_others_from_their_work() -> None:
    first, second = Follower(failure=ValueError("first")), Follower()
    third = Follower(failure=LookupError("third"))
    router = Router(*(Route([NEW_NOTES], lambda one=one: one) for one in (first, second, third)))
    with pytest.raises(LookupError) as raised:
        router.route([record("INSERT", "note#1")])
    assert isinstance(raised.value.__context__, ValueError)
    assert [one.calls for one in (first, second, third)] == [[["note#1"]]] * 3


def test_a_handler_that_cannot_be_made_does_not_keep_the_others_from_their_work() -> None:
    class UnavailableError(Exception):
        pass

    def broken() -> Follower:
        raise UnavailableError

    second = Follower()
    with pytest.raises(UnavailableError):
        Router(Route([NEW_NOTES], broken), Route([NEW_NOTES], lambda: second)).route(
            [record("INSERT", "note#1")]
        )
    assert second.calls == [["note#1"]]
