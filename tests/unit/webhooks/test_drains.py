"""Drains against a simple model: one at a time, nothing due forgotten, no wake-up too many."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from autotune_platform.webhooks.drains import CALL_SECONDS, LONGEST_DELAY_SECONDS, Drain


class DrainMachine(RuleBasedStateMachine):
    """Wake-ups arrive, functions drain, end or die; a set stands for the queue."""

    def __init__(self) -> None:
        super().__init__()
        self.state = Drain()
        self.now = 1_000_000.0
        self.asked = 0
        self.draining: dict[str, float] = {}
        self.called_meanwhile = False
        self.queue: list[float] = []
        self.sent_at: list[float] = []

    def living(self) -> list[str]:
        return [holder for holder, until in self.draining.items() if until > self.now]

    @rule(seconds=st.floats(0.5, 2_000))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def somebody_is_woken(self) -> None:
        self.asked += 1
        holder = f"function {self.asked}"
        busy = bool(self.living())
        self.state, taken = self.state.taken(holder, self.now, seconds=60)
        assert taken == (not busy)
        if taken:
            self.draining[holder] = self.now + 60
            self.called_meanwhile = False
        else:
            self.called_meanwhile = True
        self.sent_at.clear()
        # The wake-ups that are due arrive with this one, and are as good as one.
        self.queue = [at for at in self.queue if at > self.now]

    @rule()
    def something_new_is_published(self) -> None:
        self.state, to_send = self.state.called(self.now)
        if self.living():
            assert not to_send
            self.called_meanwhile = True
        elif to_send:
            self.sent_at.append(self.now)
        else:
            # It was sent so short a time ago that it may well be on its way.
            assert self.now < self.sent_at[-1] + CALL_SECONDS

    @precondition(lambda self: self.living())
    @rule(next_due=st.none() | st.floats(-10, 40_000))
    def a_drain_ends(self, next_due: float | None) -> None:
        (holder,) = self.living()
        due = None if next_due is None else self.now + next_due
        self.state, wake_at = self.state.released(holder, self.now, next_due=due)
        del self.draining[holder]
        if wake_at is not None:
            assert self.now <= wake_at <= self.now + LONGEST_DELAY_SECONDS
            self.queue.append(wake_at)
        wanted = self.now if self.called_meanwhile else due
        if wanted is not None:
            latest = min(max(wanted, self.now), self.now + LONGEST_DELAY_SECONDS)
            assert any(at <= latest for at in self.queue)

    @precondition(lambda self: set(self.draining) - set(self.living()))
    @rule()
    def a_drain_that_took_too_long_ends(self) -> None:
        late = next(iter(set(self.draining) - set(self.living())))
        del self.draining[late]
        if self.living():
            before = self.state
            self.state, wake_at = self.state.released(late, self.now, next_due=self.now)
            assert (self.state, wake_at) == (before, None)

    @invariant()
    def one_drains_at_a_time(self) -> None:
        assert len(self.living()) <= 1


TestDrains = DrainMachine.TestCase
TestDrains.settings = settings(max_examples=100, stateful_step_count=40)


def test_wake_ups_of_many_publishers_do_not_breed() -> None:
    state, now, sent = Drain(), 1_000.0, 0
    for _ in range(1_000):
        state, taken = state.taken("f", now, seconds=60)
        assert taken
        state, wake_at = state.released("f", now, next_due=2_000.0)
        sent += wake_at is not None
        now += 0.5
    assert sent == 1


def test_word_that_was_left_wakes_at_once() -> None:
    state, _ = Drain().taken("first", 0, seconds=60)
    state, taken = state.taken("second", 1, seconds=60)
    assert not taken
    state, wake_at = state.released("first", 2, next_due=None)
    assert wake_at == 2
    assert state.released("first", 3, next_due=None) == (state, None)
