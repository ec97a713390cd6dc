"""Each invariant holds on a good example and fails on a bad one."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.chaos import invariants
from tests.chaos.load import Accepted

SUBMITTED = datetime(2026, 11, 21, 12, tzinfo=UTC)
ACCEPTED = {id_: Accepted(id_, "bat_1", "healthy 1", "calm") for id_ in ("cmp_1", "cmp_2", "cmp_3")}
SIGNED = {"healthy 1": {"cmp_1": {0.25}, "cmp_2": {0.5, 0.75}}}


def verdict(completion_id: str, state: str, *, after: float = 1, **attributes: Any) -> Any:
    return {
        "pk": completion_id,
        "sk": "verdict#grd_1#1.0.0",
        "state": state,
        "submitted_at": SUBMITTED.isoformat(),
        "decided_at": (SUBMITTED + timedelta(seconds=after)).isoformat(),
        **attributes,
    }


def good() -> dict[str, list[Any]]:
    return {
        "cmp_1": [verdict("cmp_1", "scored", value=0.25)],
        "cmp_2": [verdict("cmp_2", "scored", value=0.75)],
        "cmp_3": [verdict("cmp_3", "failed", reason_code="grader_timeout")],
    }


def content(*completion_ids: str) -> list[Any]:
    return [{"pk": id_, "sk": "content"} for id_ in completion_ids]


def test_a_submission_that_ended_early_is_a_violation() -> None:
    assert not invariants.everything_was_accepted(ACCEPTED, 3).violations
    assert invariants.everything_was_accepted(ACCEPTED, 4).violations


def test_what_is_accepted_must_be_stored() -> None:
    check = invariants.nothing_accepted_is_lost
    assert not check(ACCEPTED, content(*ACCEPTED)).violations
    assert len(check(ACCEPTED, content("cmp_1", "cmp_2")).violations) == 1


def test_what_is_stored_must_have_been_accepted() -> None:
    stored = content(*ACCEPTED, "cmp_4")
    assert invariants.nothing_accepted_is_lost(ACCEPTED, stored).violations == [
        "cmp_4 is stored and was not accepted"
    ]


def test_a_pending_completion_is_a_violation() -> None:
    check = invariants.everything_is_decided
    assert not check(ACCEPTED, good()).violations
    assert check(ACCEPTED, good() | {"cmp_3": []}).violations == ["cmp_3 is pending"]


def test_a_state_that_is_none_is_a_violation() -> None:
    odd = good() | {"cmp_3": [verdict("cmp_3", "running")]}
    assert invariants.everything_is_decided(ACCEPTED, odd).violations == ["cmp_3 is running"]


def test_two_verdicts_are_a_violation() -> None:
    check = invariants.no_completion_has_two_verdicts
    assert not check(ACCEPTED, good()).violations
    twice = good() | {"cmp_1": [*good()["cmp_1"], verdict("cmp_1", "canceled")]}
    assert check(ACCEPTED, twice).violations == ["cmp_1 has 2 verdicts"]


def test_a_verdict_on_what_was_never_accepted_is_a_violation() -> None:
    more = good() | {"cmp_4": [verdict("cmp_4", "canceled")]}
    found = invariants.no_completion_has_two_verdicts(ACCEPTED, more)
    assert found.violations == ["cmp_4 was judged, never accepted"]


def test_a_verdict_that_is_no_longer_what_the_stream_told_is_a_violation() -> None:
    told = {(own["pk"], own["sk"]): own for (own,) in good().values()}
    check = invariants.verdicts_are_written_once
    assert not check(told, [], good()).violations
    changed = good() | {"cmp_2": [verdict("cmp_2", "scored", value=0.5)]}
    assert len(check(told, [], changed).violations) == 1
    assert check(told, ["seen"], good()).violations == ["seen"]


@pytest.mark.parametrize(
    "forged",
    [
        verdict("cmp_1", "scored", value=0.26),
        verdict("cmp_1", "scored", value=0.5),  # signed for another completion
        verdict("cmp_1", "scored"),
        verdict("cmp_3", "scored", value=0.0),  # nothing was signed for it
        verdict("cmp_4", "scored", value=0.25),  # not one of ours
    ],
)
def test_a_score_that_nobody_signed_for_it_is_a_violation(forged: Any) -> None:
    check = invariants.scores_are_signed
    assert not check(ACCEPTED, good(), SIGNED).violations
    assert len(check(ACCEPTED, good() | {forged["pk"]: [forged]}, SIGNED).violations) == 1


def test_a_score_signed_by_another_grader_is_a_violation() -> None:
    elsewhere = ACCEPTED | {"cmp_1": replace(ACCEPTED["cmp_1"], patient="healthy 2")}
    assert len(invariants.scores_are_signed(elsewhere, good(), SIGNED).violations) == 1


@pytest.mark.parametrize(
    "wrong", [{"value": 0.0, "reason_code": "grader_timeout"}, {"reason_code": None}]
)
def test_a_failure_with_a_value_or_without_a_reason_is_a_violation(wrong: Any) -> None:
    assert not invariants.failures_are_no_scores(good()).violations
    verdicts = good() | {"cmp_3": [verdict("cmp_3", "failed", **wrong)]}
    assert len(invariants.failures_are_no_scores(verdicts).violations) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [verdict("cmp_3", "scored", value=0.5)],
        [verdict("cmp_3", "failed", reason_code="grader_unreachable")],
        [verdict("cmp_3", "failed", reason_code="deadline_exceeded", after=500)],
    ],
)
def test_what_outlives_its_deadline_is_a_violation(wrong: list[Any]) -> None:
    in_time = verdict("cmp_3", "failed", reason_code="deadline_exceeded", after=61)
    check = invariants.deadlines_hold
    assert not check(["cmp_3"], {"cmp_3": [in_time]}, seconds=60).violations
    verdicts = {"cmp_3": wrong} if wrong else {}
    assert len(check(["cmp_3"], verdicts, seconds=60).violations) == 1


def test_a_deadline_is_missed_for_certain_only_after_its_grace() -> None:
    grace = invariants.DECIDED_AFTER_DEADLINE
    end = SUBMITTED + timedelta(seconds=60) + grace
    assert not invariants.is_late(SUBMITTED, end, seconds=60)
    assert invariants.is_late(SUBMITTED, end + timedelta(seconds=1), seconds=60)


def test_grace_is_longer_where_all_of_the_run_took_longer() -> None:
    late = SUBMITTED + timedelta(seconds=60) + 2 * invariants.DECIDED_AFTER_DEADLINE
    assert not invariants.is_late(SUBMITTED, late, seconds=60, slowness=2)
    assert invariants.is_late(SUBMITTED, late, seconds=60, slowness=1.9)
    seconds = int((late - SUBMITTED).total_seconds())
    ended = {"cmp_3": [verdict("cmp_3", "failed", reason_code="deadline_exceeded", after=seconds)]}
    check = invariants.deadlines_hold
    assert not check(["cmp_3"], ended, seconds=60, slowness=2).violations
    assert len(check(["cmp_3"], ended, seconds=60).violations) == 1


@pytest.mark.parametrize("wrong", [{"scored": 3, "failed": 0}, {"pending": 1}, {"expected": 2}])
def test_a_count_that_is_not_the_tables_is_a_violation(wrong: dict[str, int]) -> None:
    right = {"expected": 3, "scored": 2, "failed": 1, "pending": 0}
    check = invariants.counts_agree
    assert not check({"bat_1": right}, ACCEPTED.values(), good()).violations
    assert len(check({"bat_1": right | wrong}, ACCEPTED.values(), good()).violations) == 1
    assert len(check({}, ACCEPTED.values(), good()).violations) == 1


def test_p99_is_by_nearest_rank() -> None:
    assert invariants.p99([float(n) for n in range(1, 201)]) == 198
    assert invariants.p99([3.0, 1.0, 2.0]) == 3


def test_an_inactive_flapping_grader_is_a_violation_and_so_is_no_probe() -> None:
    check = invariants.flapping_is_no_outage
    dead = ["active", "degraded", "inactive"]
    assert not check(["active", "degraded", "active"], dead).violations
    assert len(check(["active", "inactive"], dead).violations) == 1
    assert check(["active"], ["active"]).violations
    assert check([], []).violations


LEFT = [
    ("content cmp_1", "a Text of ours"),
    ("object content/cmp_2", "a text of ours"),
    ("log", ""),
]


@pytest.mark.parametrize("place", ["log of GradeChunk", "table Completions cmp_1", "object export"])
def test_a_text_outside_of_content_is_a_violation(place: str) -> None:
    check = invariants.texts_and_secrets_stay
    assert not check(LEFT, "text of ours", ["5ecret"]).violations
    found = check([*LEFT, (place, "oops: a TEXT of ours")], "text of ours", ["5ecret"])
    assert found.violations == [f"a text is in {place}"]
    assert found.checked == 4


def test_a_secret_anywhere_is_a_violation_in_content_too() -> None:
    left = [*LEFT, ("content cmp_3", "my 5ecret")]
    found = invariants.texts_and_secrets_stay(left, "text of ours", ["other", "5ecret"])
    assert found.violations == ["a secret is in content cmp_3"]


@pytest.mark.parametrize("before", ["", "x", "xx", "xxx"])
def test_a_secret_in_base64_is_a_violation_wherever_it_begins(before: str) -> None:
    secret = "sk-0123456789-planted-key"
    coded = base64.b64encode(f"{before}{secret} and more".encode()).decode()
    found = invariants.texts_and_secrets_stay([*LEFT, ("log", coded)], "text of ours", [secret])
    assert found.violations == ["a secret is in log"]


def test_a_search_that_finds_no_text_at_all_is_a_violation() -> None:
    assert invariants.texts_and_secrets_stay([("log", "")], "text of ours", []).violations


def test_a_fault_that_never_struck_is_a_violation() -> None:
    check = invariants.every_fault_happened
    assert not check({"restarts": 1, "NaN": 4}).violations
    assert check({"restarts": 0, "NaN": 4}).violations == ["restarts: never"]
