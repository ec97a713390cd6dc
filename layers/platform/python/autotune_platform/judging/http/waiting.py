"""Which completions wait for a callback that may still come."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from autotune_platform.judging.http.calls import Asked, Call
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import OfGrader
from autotune_platform.verdicts.service import VerdictService


@part
class CallWaits:
    """Finds what waits for graders' callbacks."""

    repository: CallRepository
    verdicts: VerdictService
    clock: Clock = SYSTEM_CLOCK

    def awaited(self, completion_ids: Sequence[str], asker: OfGrader) -> Collection[str]:
        """Return those of a run's completions that are undecided and wait for a callback.

        One whose callback is recorded counts until there is a verdict, for whoever recorded it is
        about to decide and to wake the run; one whose time is up counts, for the run's own time-out
        finds that, and fails it.
        """
        undecided = self.verdicts.undecided(completion_ids, asker)
        awaited = self.repository.awaited(
            Asked(id_, asker.grader_id, asker.grader_version, asker.generation) for id_ in undecided
        )
        return {id_ for id_, *_ in awaited}

    def recorded(self, asked: Iterable[Asked]) -> set[str]:
        """Return the completions whose answer is recorded and not applied yet."""
        return {
            completion_id
            for (completion_id, *_), call in self.repository.awaited(asked).items()
            if call.state == "answered"
        }

    def of_completion(self, completion_id: str) -> list[Call]:
        """Return the calls whose callback a completion waits for, or did, as far as stored."""
        return self.repository.get_many(self.repository.asked_about(completion_id))

    def until(self, asked: Iterable[Asked]) -> dict[Asked, datetime]:
        """Return when each callback is due, of those that may still come."""
        return {question: call.until for question, call in self.open_calls(asked).items()}

    def open_calls(self, asked: Iterable[Asked]) -> dict[Asked, Call]:
        """Return the calls whose callback may still come, by what was asked."""
        now = self.clock.now()
        return {
            question: call
            for question, call in self.repository.awaited(asked).items()
            if call.state == "open" and call.until > now
        }
