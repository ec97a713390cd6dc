"""The checks of counts and of what is asked again, each on something bad that it has to find."""

from typing import Any

import pytest

from tests.chaos_ledger.chains import chains, check_chains, executed_by
from tests.chaos_ledger.counts import check_counts, none_left
from tests.providers.state import Execution

ROWS: dict[str, dict[str, Any]] = {
    "llm_waits": {"organization_id": "o", "input_bytes": 10, "status": "queued"},
    "llm_ended_here": {
        "organization_id": "o",
        "input_bytes": 20,
        "status": "completed",
        "batch_id": "lbt_open",
    },
    "llm_ended": {
        "organization_id": "o",
        "input_bytes": 40,
        "status": "completed",
        "batch_id": "lbt_over",
    },
    "llm_canceled": {"organization_id": "o", "input_bytes": 80, "status": "canceled"},
}
_OF = {"connection_id": "c", "model": "m"}
BATCHES: dict[str, dict[str, Any]] = {
    "lbt_open": {**_OF, "pk": "lbt_open", "phase": "working", "is_counted": True, "rows": 2},
    "lbt_job": {**_OF, "pk": "lbt_job", "phase": "polling", "rows": 3, "counted_tokens": 70},
    "lbt_over": {**_OF, "pk": "lbt_over", "phase": "settled", "is_counted": True, "rows": 1},
}
RIGHT: list[dict[str, Any]] = [
    {"pk": "open#o", "sk": "rows", "rows": 2, "bytes": 30},
    {"pk": "calls#c#m", "sk": "openCalls", "batches": 1},
    {"pk": "live#c", "sk": "all", "jobs": 1, "rows": 3},
    {"pk": "live#c", "sk": "model#m", "tokens": 70},
]


class Found:
    """What was checked and does not hold."""

    def __init__(self) -> None:
        self.checked = 0
        self.wrong: list[str] = []

    def __call__(self, _: str, holds: bool, what: str) -> None:
        self.checked += 1
        if not holds:
            self.wrong.append(what)


def wrong_counts(items: list[dict[str, Any]]) -> list[str]:
    found = Found()
    check_counts(items, ROWS, BATCHES, found)
    assert found.checked >= 5
    return found.wrong


def test_counts_that_are_right_are_no_fault() -> None:
    assert wrong_counts(RIGHT) == []


@pytest.mark.parametrize(
    ("place", "name"),
    [(0, "rows"), (0, "bytes"), (1, "batches"), (2, "jobs"), (2, "rows"), (3, "tokens")],
)
@pytest.mark.parametrize("by", [-1, 1])
def test_a_count_that_is_off_by_one_is_seen(place: int, name: str, by: int) -> None:
    items = [dict(one) for one in RIGHT]
    items[place][name] += by
    (found,) = wrong_counts(items)
    assert items[place]["pk"] in found


def test_rows_that_are_just_being_accepted_are_counted_before_they_are_stored() -> None:
    claim = {"pk": "enqueue#o#d", "sk": "claim", "organization_id": "o", "done": False}
    more = [{**RIGHT[0], "rows": 5}, *RIGHT[1:], claim]
    assert wrong_counts(more) == []
    assert len(wrong_counts([{**RIGHT[0], "rows": 1}, *RIGHT[1:], claim])) == 1
    assert len(wrong_counts([*more[:-1], {**claim, "done": True}])) == 1


def test_a_count_that_is_left_in_the_end_is_seen() -> None:
    none = {**RIGHT[0], "rows": 0, "bytes": 0}
    assert none_left([none, {"pk": "live#c", "sk": "all", "jobs": 0}]) == []
    assert len(none_left(RIGHT)) == 6
    assert none_left([{"pk": "open#o", "sk": "imports", "imports": 1}]) != []


def asked(**more: Any) -> dict[str, Any]:
    return {"status": "completed", "parse_error": {"code": "unparsed"}, **more}


FIRST = asked(reasked_as="llm_b")
SECOND: dict[str, Any] = {
    **asked(reask_skipped="asked_enough"),
    "reask_of": "llm_a",
    "first_request_id": "llm_a",
    "reasks": 1,
}


def wrong_chains(first: dict[str, Any], second: dict[str, Any] | None) -> int:
    rows = {"llm_a": first, **({"llm_b": second} if second else {})}
    found = Found()
    check_chains(rows, {"llm_a": True}, found)
    return len(found.wrong)


def test_a_chain_that_is_whole_is_no_fault() -> None:
    assert wrong_chains(FIRST, SECOND) == 0
    assert wrong_chains({"status": "completed"}, None) == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (asked(), None),
        (asked(reask="due", reask_skipped="canceled"), None),
        (FIRST, None),
        ({"status": "completed", "reasked_as": "llm_b"}, SECOND),
        (asked(reask_skipped="canceled"), SECOND),
        (FIRST, {**SECOND, "reasks": 2}),
        (FIRST, {**SECOND, "reask_skipped": None}),
    ],
    ids=["forgotten", "due", "lost", "readable", "unlinked", "miscounted", "silent"],
)
def test_what_is_asked_again_wrongly_or_not_at_all_is_seen(
    first: dict[str, Any], second: dict[str, Any] | None
) -> None:
    assert wrong_chains(first, second) >= 1


def execution(token: str, custom_id: str | None = None) -> Execution:
    given: dict[str, Any] = dict.fromkeys(Execution.__dataclass_fields__, 0)
    return Execution(**{**given, "token": token, "custom_id": custom_id})


def test_single_calls_are_of_the_row_whose_turn_it_was_and_jobs_name_theirs() -> None:
    rows = {"llm_b": SECOND, "llm_a": FIRST}
    assert chains(rows) == {"llm_a": ["llm_a", "llm_b"]}
    bill = [execution("t0"), execution("t1"), execution("t2", "ax2"), execution("t3")]
    outputs = {"llm_a": "says t1", "llm_b": "says t3"}
    found = executed_by(["llm_a", "llm_b"], enumerate(bill), outputs)
    assert {row_id: [place for place, _ in some] for row_id, some in found.items()} == {
        "llm_a": [0, 1, 2],
        "llm_b": [3],
    }
