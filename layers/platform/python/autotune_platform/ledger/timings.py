"""How long is waited for what of a provider's job; a connection may have timings of its own."""

from datetime import timedelta

from autotune_platform.runtime.frozen_model import FrozenModel


class Timings(FrozenModel):
    """Timings of a connection, in seconds; what each is stands with ``ConnectionTimings``.

    Steps read those that the connection has at that moment, so that whoever changes them reaches
    jobs that are under way, too. Only ``visibility_seconds`` is never less than it was when a
    creation began: a job that is in no list yet would be created twice.
    """

    poll_least_seconds: int = 60
    poll_most_seconds: int = 1_800
    visibility_seconds: int = 900
    patience_seconds: int = 900
    lost_after_seconds: int = 259_200
    results_within_seconds: int = 3_600
    overdue_seconds: int = 3_600
    put_off_seconds: int = 600

    @property
    def patience(self) -> timedelta:
        """For how long a job must not have been seen before it is given up."""
        return timedelta(seconds=self.patience_seconds)

    @property
    def lost_after(self) -> timedelta:
        """How old a job is at least that is given up because it cannot be seen."""
        return timedelta(seconds=self.lost_after_seconds)

    @property
    def results_within(self) -> timedelta:
        """For how long results are waited for after a job has ended."""
        return timedelta(seconds=self.results_within_seconds)

    @property
    def overdue(self) -> timedelta:
        """How long after its time a job is asked to end."""
        return timedelta(seconds=self.overdue_seconds)

    def poll_after(self, age: timedelta) -> float:
        """Return after how many seconds a job of an age is looked at again."""
        tenth = age.total_seconds() / 10
        return min(max(tenth, self.poll_least_seconds), self.poll_most_seconds)
