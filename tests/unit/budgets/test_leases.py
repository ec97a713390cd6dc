"""Leases and paces of the ``budgets`` table against simple models, with a clock of the test."""

from collections.abc import Iterator
from itertools import pairwise

import boto3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, multiple, rule
from moto import mock_aws

from autotune_platform.budgets.circuit import Circuit
from autotune_platform.budgets.leases import Leases
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.storage.table import Table

LIMIT = 5


def test_a_round_whose_write_was_not_confirmed_takes_the_same_slots_again() -> None:
    taken = Leases(), 0
    for _ in range(3):
        taken = taken[0].taken("round", 100, wanted=3, limit=LIMIT, seconds=60)
    assert taken[1] == 3
    after, slots = taken[0].taken("another", 100, wanted=5, limit=LIMIT, seconds=60)
    assert slots == LIMIT - 3
    assert sum(lease.slots for lease in after.held.values()) == LIMIT


class LeasesMachine(RuleBasedStateMachine):
    """Rounds take slots, release them or die; no call outlives its lease."""

    rounds = Bundle("rounds")

    def __init__(self) -> None:
        super().__init__()
        self.leases = Leases()
        self.now = 1_000_000.0
        self.under_way: dict[str, tuple[int, float]] = {}
        self.asked = 0

    def store(self, leases: Leases) -> None:
        self.leases = Leases.model_validate_json(leases.model_dump_json(exclude_defaults=True))

    def calls_under_way(self) -> int:
        return sum(slots for slots, until in self.under_way.values() if until > self.now)

    @rule(seconds=st.floats(0, 100))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(target=rounds, wanted=st.integers(1, 8), seconds=st.floats(1, 120))
    def a_round_begins(self, wanted: int, seconds: float) -> str:
        self.asked += 1
        round_id = f"round {self.asked}"
        leases, slots = self.leases.taken(
            round_id, self.now, wanted=wanted, limit=LIMIT, seconds=seconds
        )
        self.store(leases)
        assert slots == min(wanted, LIMIT - self.calls_under_way())
        if not slots:
            return multiple()
        self.under_way[round_id] = (slots, self.now + seconds)
        assert self.calls_under_way() <= LIMIT
        return round_id

    @rule(round_id=consumes(rounds))
    def a_round_ends(self, round_id: str) -> None:
        self.store(self.leases.released(round_id, self.now))
        del self.under_way[round_id]

    @rule(round_id=consumes(rounds))
    def a_round_dies(self, round_id: str) -> None:
        assert round_id in self.under_way  # its slots become free when its lease ends


TestLeases = LeasesMachine.TestCase
TestLeases.settings = settings(max_examples=100, stateful_step_count=40)


@pytest.fixture
def budgets(monkeypatch: pytest.MonkeyPatch) -> Iterator[BudgetRepository]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("dynamodb")
        client.create_table(
            TableName="budgets",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")
            ],
        )
        yield BudgetRepository(Table("budgets", client))


_ids = iter(range(1_000_000))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rate=st.sampled_from([0.01, 0.5, 3, 7.7, 10_000]),
    pauses=st.lists(
        st.one_of(st.just(0.0), st.floats(0, 0.5), st.floats(0, 300)), min_size=1, max_size=25
    ),
)
def test_calls_are_paced_whoever_makes_them(
    budgets: BudgetRepository, rate: float, pauses: list[float]
) -> None:
    grader_id, interval, horizon = f"grd_{next(_ids)}", 1 / rate, 10
    now, free_at, moments = 1_763_721_000.25, 0.0, []
    for pause in pauses:
        now += pause
        moment, reserved = budgets.reserve_call(grader_id, now, interval=interval, horizon=horizon)
        assert reserved == (free_at <= now + horizon)
        assert moment == pytest.approx(max(now, free_at), abs=1e-5)
        if reserved:
            free_at = moment + interval
            moments.append(moment)
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert all(gap >= interval - 1e-5 for gap in gaps)


def test_a_change_that_was_overtaken_is_made_again(budgets: BudgetRepository) -> None:
    seen: list[Circuit] = []

    def count(circuit: Circuit) -> tuple[Circuit, None]:
        seen.append(circuit)
        if len(seen) <= 2:  # somebody else is faster, before there is an item and after
            budgets.change_circuit(
                "grd_1", 5, lambda other: (other.counted(5, passed=1, failed=0), None)
            )
        return circuit.counted(5, passed=0, failed=1), None

    budgets.change_circuit("grd_1", 5, count)
    (outcomes,) = budgets.circuit("grd_1").recent.values()
    assert (outcomes.passed, outcomes.failed) == (2, 1)
    assert len(seen) == 3
