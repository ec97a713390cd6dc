"""The circuit breaker against a model that keeps every call and forgets nothing."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from autotune_platform.budgets.circuit import Circuit


class BreakerMachine(RuleBasedStateMachine):
    """Rounds count their calls and probe; time passes; what is stored is read back each time."""

    rounds = Bundle("rounds")

    def __init__(self) -> None:
        super().__init__()
        self.circuit = Circuit()
        self.now = 1_000_000.0
        self.calls: list[tuple[float, int, int]] = []
        self.in_a_row = 0
        self.openings = 0
        self.open_until = 0.0
        self.permit: tuple[str, float] | None = None
        self.asked = 0

    def store(self, circuit: Circuit) -> None:
        self.circuit = Circuit.model_validate_json(circuit.model_dump_json(exclude_defaults=True))

    def open(self) -> None:
        seconds = min(30 * 2**self.openings, 600)
        self.openings += 1
        self.open_until = self.now + seconds
        self.permit = None
        self.calls = []
        self.in_a_row = 0

    @rule(seconds=st.one_of(st.floats(0, 40), st.floats(0, 700)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(passed=st.integers(0, 12), failed=st.integers(0, 12))
    def a_round_ends(self, passed: int, failed: int) -> None:
        self.store(self.circuit.counted(self.now, passed=passed, failed=failed))
        if self.openings:
            return
        self.calls.append((self.now, passed, failed))
        tens = self.now // 10
        recent = [call for call in self.calls if tens - call[0] // 10 < 6]
        failures = sum(call[2] for call in recent)
        calls = failures + sum(call[1] for call in recent)
        self.in_a_row = 0 if calls > failures else self.in_a_row + failed
        if self.in_a_row >= 3 or (calls >= 10 and failures / calls >= 0.5):
            self.open()

    @rule(target=rounds)
    def a_round_asks_for_a_probe(self) -> str:
        self.asked += 1
        round_id = f"round {self.asked}"
        probed = self.circuit.probed_by(round_id, self.now, seconds=60)
        free = self.permit is None or self.permit[1] <= self.now
        expected = bool(self.openings) and self.now >= self.open_until and free
        assert (probed is not None) == expected
        assert (self.circuit.wait(self.now) == 0) == (expected or not self.openings)
        if probed is None:
            return multiple()
        self.store(probed)
        self.permit = (round_id, self.now + 60)
        return round_id

    @rule(round_id=consumes(rounds), failed=st.sampled_from([True, False, None]))
    def a_probe_ends(self, round_id: str, failed: bool | None) -> None:
        self.store(self.circuit.probe_ended(round_id, self.now, failed=failed))
        if self.permit is None or self.permit[0] != round_id:
            return  # too late: others may probe now, and its answer counts for nothing
        self.permit = None
        if failed:
            self.open()
        elif failed is False:
            self.openings, self.open_until, self.calls, self.in_a_row = 0, 0.0, [], 0

    @invariant()
    def the_phase_is_the_models(self) -> None:
        phase = "closed"
        if self.openings:
            phase = "open" if self.now < self.open_until else "half-open"
        assert self.circuit.phase(self.now) == phase

    @invariant()
    def no_wait_is_longer_than_ten_minutes(self) -> None:
        assert 0 <= self.circuit.wait(self.now) <= 600


TestBreaker = BreakerMachine.TestCase
TestBreaker.settings = settings(max_examples=150, stateful_step_count=40)


def test_a_circuit_stays_small_and_forgets_the_last_minute_but_one() -> None:
    circuit = Circuit()
    for second in range(0, 3_600, 7):
        circuit = circuit.counted(second, passed=100, failed=1)
    assert len(circuit.recent) == 6
    assert circuit.phase(3_600) == "closed"
    later = circuit.counted(3_700, passed=1, failed=8)
    assert later.phase(3_700) == "closed"
    assert later.counted(3_701, passed=0, failed=1).phase(3_701) == "open"


def test_three_failures_in_a_row_open_it_however_sparse_they_are() -> None:
    circuit = Circuit()
    for hour in range(2):
        circuit = circuit.counted(hour * 3_600, passed=0, failed=1)
        assert circuit.phase(hour * 3_600) == "closed"
    assert circuit.counted(7_200, passed=0, failed=1).phase(7_200) == "open"
    passed = circuit.counted(7_200, passed=1, failed=0)
    assert passed.counted(9_000, passed=0, failed=2).phase(9_000) == "closed"


def test_three_poisonous_texts_do_not_open_it_while_others_pass() -> None:
    busy = Circuit()
    for second in range(60):
        busy = busy.counted(second, passed=50, failed=0)
    assert busy.counted(60, passed=0, failed=3).phase(60) == "closed"
    quiet = busy.counted(130, passed=0, failed=2)
    assert quiet.counted(131, passed=0, failed=1).phase(131) == "open"


def test_a_grader_that_stays_away_is_probed_every_ten_minutes() -> None:
    circuit, now, opened = Circuit().counted(0, passed=0, failed=10), 0.0, []
    for _ in range(2_000):
        opened.append(circuit.wait(now))
        now += circuit.wait(now)
        probed = circuit.probed_by("probe", now, seconds=60)
        assert probed is not None
        circuit = probed.probe_ended("probe", now, failed=True)
    assert opened[:6] == [30, 60, 120, 240, 480, 600]
    assert set(opened[6:]) == {600}
