"""A grader's status against a model that remembers every probe and looks back at them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from autotune.protocol.graders import GraderStatus, ProbeOutcome
from autotune_platform.graders.health import Health, Probe

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
STATUSES: tuple[GraderStatus, ...] = ("active", "degraded", "inactive")
OUTCOMES: tuple[ProbeOutcome, ...] = ("healthy", "degraded", "failed")


def probe(outcome: ProbeOutcome, minutes: int = 5) -> Probe:
    moment = START + timedelta(minutes=minutes)
    return Probe(probed_at=moment, outcome=outcome, latency_ms=1)


def follow(status: GraderStatus, *outcomes: ProbeOutcome) -> list[GraderStatus]:
    """The status after each of a newly verified grader's probes."""
    health = Health(grader_id="grd_1", updated_at=START)
    passed = []
    for outcome in outcomes:
        health = health.after(probe(outcome))
        status = health.status(status)
        passed.append(status)
    return passed


class HealthMachine(RuleBasedStateMachine):
    """Probes find something; what is stored is read back each time."""

    def __init__(self) -> None:
        super().__init__()
        self.health = Health(grader_id="grd_1", updated_at=START)
        self.status: GraderStatus = "active"
        self.expected: GraderStatus = "active"
        self.found: list[ProbeOutcome] = []

    @rule(outcomes=st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=7))
    def probe_several_times(self, outcomes: list[ProbeOutcome]) -> None:
        for outcome in outcomes:
            self.probe(outcome)

    @rule(outcome=st.sampled_from(OUTCOMES), times=st.integers(1, 8))
    def probe_alike(self, outcome: ProbeOutcome, times: int) -> None:
        for _ in range(times):
            self.probe(outcome)

    @rule()
    def verify_again(self) -> None:
        self.health = Health(grader_id="grd_1", updated_at=START)
        self.status = self.expected = "active"
        self.found = []

    def probe(self, outcome: ProbeOutcome) -> None:
        health = self.health.after(probe(outcome))
        self.health = Health.model_validate_json(health.model_dump_json(exclude_none=True))
        self.status = self.health.status(self.status)
        self.found.append(outcome)
        self.expected = self.looked_back()

    def looked_back(self) -> GraderStatus:
        two, six = self.found[-2:], self.found[-6:]
        if two == ["healthy"] * 2:
            return "active"
        if six == ["failed"] * 6:
            return "inactive"
        if len(two) == 2 and self.expected == "active" and "healthy" not in two:
            return "degraded"
        if len(two) == 2 and self.expected == "inactive" and "failed" not in two:
            return "degraded"
        return self.expected

    @invariant()
    def the_status_follows_from_the_probes(self) -> None:
        assert self.status == self.expected

    @invariant()
    def the_counts_are_those_of_the_latest_probes(self) -> None:
        for outcome, count in (("healthy", self.health.healthy), ("failed", self.health.failed)):
            alike = 0
            while alike < len(self.found) and self.found[-1 - alike] == outcome:
                alike += 1
            assert count == alike


TestHealth = HealthMachine.TestCase
TestHealth.settings = settings(max_examples=60, stateful_step_count=30)


@given(
    status=st.sampled_from(STATUSES),
    bad=st.sampled_from(["failed", "degraded"]),
    first_is_bad=st.booleans(),
    times=st.integers(1, 40),
)
def test_a_grader_that_fails_every_other_probe_keeps_its_status(
    status: GraderStatus, bad: ProbeOutcome, first_is_bad: bool, times: int
) -> None:
    pair: list[ProbeOutcome] = [bad, "healthy"] if first_is_bad else ["healthy", bad]
    if status == "inactive" and bad == "degraded":
        return  # it answers every time, which an inactive grader does not
    assert set(follow(status, *pair * times)) == {status}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_one_probe_changes_nothing(status: GraderStatus, outcome: ProbeOutcome) -> None:
    assert follow(status, outcome) == [status]


def test_a_grader_falls_ill_in_steps_and_recovers() -> None:
    assert follow("active", *["failed"] * 6, *["healthy"] * 2) == [
        "active",
        *["degraded"] * 4,
        *["inactive"] * 2,
        "active",
    ]


def test_a_grader_that_calls_itself_degraded_is_never_inactive() -> None:
    assert follow("active", *["degraded"] * 10)[1:] == ["degraded"] * 9


def test_a_grader_that_answers_again_in_part_is_degraded() -> None:
    assert follow("inactive", "degraded", "failed", "degraded", "degraded") == [
        *["inactive"] * 3,
        "degraded",
    ]
