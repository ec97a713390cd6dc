"""A slow machine is waited for, and a stuck one is not."""

from tests.chaos.patience import Patience


class Machine:
    """Something that gets on, and a clock."""

    def __init__(self) -> None:
        self.done, self.now = 0, 100.0
        self.patience = Patience(
            lambda: self.done, quiet_seconds=60, most_seconds=1_000, monotonic=lambda: self.now
        )

    def waits(self, seconds: float, *, does: int = 0) -> bool:
        """Let time pass; return whether there is nothing more to wait for."""
        self.now += seconds
        self.done += does
        return self.patience.is_over()


def test_what_changes_is_waited_for_however_slow_it_is() -> None:
    slow = Machine()
    assert not any(slow.waits(59, does=1) for _ in range(16))
    assert slow.patience.why is None


def test_what_is_stuck_is_given_up_and_stays_so() -> None:
    stuck = Machine()
    assert not stuck.waits(60)
    assert stuck.waits(1)
    assert stuck.patience.why == "nothing has changed for 61 s"
    assert stuck.waits(1, does=1)


def test_nothing_goes_on_for_ever() -> None:
    busy = Machine()
    assert [busy.waits(50, does=1) for _ in range(21)] == [False] * 20 + [True]
    assert busy.patience.why == "more than 1000 s are over"


def test_how_long_it_has_been_quiet() -> None:
    machine = Machine()
    machine.waits(10, does=1)
    machine.now += 5
    assert machine.patience.quiet_for() == 5
