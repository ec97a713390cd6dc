"""What a follower of the stream takes for a verdict that was changed."""

from typing import Any

from tests.chaos.stream import VerdictStream


def record(event: str, *, sk: str = "verdict#grd_1#1.0.0", value: str = "0.5") -> dict[str, Any]:
    key = {"pk": {"S": "cmp_1"}, "sk": {"S": sk}}
    return {
        "eventName": event,
        "dynamodb": {"Keys": key, "NewImage": {**key, "value": {"N": value}}},
    }


def test_a_verdict_is_noted_as_it_was_written() -> None:
    stream = VerdictStream()
    stream.take(record("INSERT"))
    (item,) = stream.written.values()
    assert item == {"pk": "cmp_1", "sk": "verdict#grd_1#1.0.0", "value": 0.5}
    assert not stream.violations


def test_a_verdict_that_is_written_over_or_removed_is_a_violation() -> None:
    stream = VerdictStream()
    stream.take(record("INSERT"))
    stream.take(record("MODIFY", value="0.6"))
    stream.take(record("REMOVE"))
    assert len(stream.violations) == 2


def test_a_verdict_that_is_inserted_twice_is_a_violation() -> None:
    stream = VerdictStream()
    stream.take(record("INSERT"))
    stream.take(record("INSERT"))
    assert len(stream.violations) == 1


def test_other_items_may_change() -> None:
    stream = VerdictStream()
    stream.take(record("MODIFY", sk="batch"))
    assert not stream.violations
    assert not stream.written
