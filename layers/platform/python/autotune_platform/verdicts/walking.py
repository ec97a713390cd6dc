"""A walk through the verdicts of one task, or of all of an organisation's, page by page."""

from collections.abc import Iterator

from autotune_platform.access.models import Caller
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import invalid_cursor
from autotune_platform.tasks.service import TaskService
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.newest_first import NewestPosition, NewestVerdicts
from autotune_platform.verdicts.score_index import Allowance, ScorePosition
from autotune_platform.verdicts.service import VerdictService


@part
class ScoreWalk:
    """Lists verdicts to the organisation that their tasks belong to.

    Without a task it goes through them in order of their ids, deleted ones included: a task keeps
    its place, so that one which is made or deleted meanwhile moves no other.
    """

    verdicts: VerdictService
    newest: NewestVerdicts
    tasks: TaskService

    def page(
        self,
        caller: Caller,
        filters: ScoreFilters,
        *,
        limit: int,
        next_token: str | None,
        newest_first: bool = False,
    ) -> tuple[list[Verdict], str | None]:
        """Return a page of verdicts, without dimensions and reasoning.

        It reads no more for many tasks than for one.

        Args:
            newest_first: what was decided last comes first; only of one task.

        Raises:
            NotFoundError: there is no such task in the caller's organisation, and never was.
            InvalidRequestError: ``next_token`` is not from this list, or there is no task to list
                newest first.
        """
        if filters.task_id is None and newest_first:
            raise InvalidRequestError.of_field("taskId", "a task, of which order=newest lists")
        if filters.task_id is not None:
            if not self.tasks.is_known(caller, filters.task_id):
                raise NotFoundError(f"no task {filters.task_id}")
            if newest_first:
                return self._newest(filters.task_id, filters, limit=limit, next_token=next_token)
            return self.verdicts.matching(
                filters.task_id, filters, limit=limit, next_token=next_token
            )
        allowance = Allowance()
        found: list[Verdict] = []
        for task_id in self._task_ids(caller, next_token):
            if len(found) == limit or allowance.is_spent:
                return found, ScorePosition(task_id).token()
            verdicts, token = self.verdicts.matching(
                task_id,
                filters,
                limit=limit - len(found),
                next_token=next_token,
                allowance=allowance,
            )
            found += verdicts
            if token is not None:
                return found, token
            next_token = None
        return found, None

    def _newest(
        self, task_id: str, filters: ScoreFilters, *, limit: int, next_token: str | None
    ) -> tuple[list[Verdict], str | None]:
        start = None if next_token is None else NewestPosition.from_token(next_token, task_id)
        found, end = self.newest.page(
            task_id, filters, start=start, limit=limit, allowance=Allowance()
        )
        return found, end.token() if end else None

    @staticmethod
    def token_behind(verdict: Verdict, *, newest_first: bool) -> str:
        """Return the token with which a list goes on behind one of its verdicts."""
        position = NewestPosition if newest_first else ScorePosition
        return position.behind(verdict).token()

    def _task_ids(self, caller: Caller, next_token: str | None) -> Iterator[str]:
        """Yield the tasks from where a page ended on."""
        after = None
        if next_token is not None:
            after = ScorePosition.from_token(next_token).task_id
            if not self.tasks.is_known(caller, after):
                raise invalid_cursor()
            yield after
        yield from self.tasks.ids(caller, after=after)
