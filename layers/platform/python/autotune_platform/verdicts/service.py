"""Deciding and reading verdicts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import MappingProxyType

from autotune.protocol.ids import is_id
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import invalid_cursor
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.listing import LONGEST_UNLISTED, DecisionLists
from autotune_platform.verdicts.models import OfGrader, Unlisted, Verdict, VerdictKey
from autotune_platform.verdicts.panels import Panel, PanelRecords
from autotune_platform.verdicts.repository import VerdictRepository
from autotune_platform.verdicts.score_index import Allowance, ScoreIndex, ScorePosition

_FIRST: Mapping[str, int] = MappingProxyType({})


@part
class VerdictService:
    """Writes each verdict once, lists it for the projection, and finds it again."""

    repository: VerdictRepository
    index: ScoreIndex
    panels: PanelRecords
    lists: DecisionLists
    clock: Clock = SYSTEM_CLOCK

    def add(self, verdict: Verdict) -> bool:
        """Store a verdict, or an opinion; return False where there was one, which stands.

        Called within ``listing``: what no list has, nobody publishes or counts before a sweep.
        """
        stored = self.repository.add(verdict)
        if stored:
            self.lists.gather(verdict)
        return stored

    @contextmanager
    def listing(self) -> Iterator[None]:
        """List at the end what was stored meanwhile, even where something failed.

        Raises:
            UnavailableError: the table is busy; what is stored stays so, and is listed later.
        """
        try:
            yield
        finally:
            self.lists.write()

    def list_what_waits(self) -> None:
        """List what was stored so far, if the first of it has waited for two seconds."""
        self.lists.write(until=self.clock.now() - LONGEST_UNLISTED)

    def find(self, key: VerdictKey) -> Verdict | None:
        """Return one grader's verdict on a completion."""
        return self.repository.of_completion(key)

    def first(self, completion_id: str, *, generation: int | None = None) -> Verdict | None:
        """Return a completion's first verdict, of whichever grader, in its latest generation.

        Args:
            generation: another one.
        """
        found = self.repository.all_of(completion_id) if is_id("cmp", completion_id) else []
        if generation is not None:
            found = [verdict for verdict in found if verdict.generation == generation]
        return min(found, key=lambda one: (-one.generation, one.decided_at), default=None)

    def find_many(self, keys: Iterable[VerdictKey]) -> dict[str, Verdict]:
        """Return the verdicts there are, by completion; no completion in two generations."""
        return {key.completion_id: one for key, one in self.find_all(keys).items()}

    def find_all(self, keys: Iterable[VerdictKey]) -> dict[VerdictKey, Verdict]:
        """Return the verdicts there are."""
        return self.repository.of_keys(keys)

    def erase_completions(self, completion_ids: Sequence[str], *, at: datetime) -> None:  # noqa: ARG002 - a ``CompletionEraser``
        """Delete reasons, which may quote the text that was judged."""
        self.repository.erase_reasoning(completion_ids)

    def erase_opinions(self, completion_ids: Sequence[str], member: OfGrader) -> None:
        """Delete the reasons of a panel's member: only the panel's verdict shows any."""
        self.repository.erase_opinions(completion_ids, member)

    def may_show_reasons(self, asker: OfGrader) -> bool:
        """Return whether a verdict can have the reasons of a run's grader: no panel of several."""
        return asker.panel_id is None or len(self.panels.get(asker.panel_id).members) == 1

    def all_of(self, completion_id: str) -> list[Verdict]:
        """Return every verdict on a completion, of any grader and generation."""
        return self.repository.all_of(completion_id)

    def story_of(self, completion_id: str) -> list[Verdict]:
        """Return every verdict and opinion on a completion, of each of its generations."""
        return self.repository.story_of(completion_id)

    def leave_lists(self, keys: Sequence[VerdictKey]) -> None:
        """List verdicts no more that a later generation replaces; doing it again is fine."""
        self.repository.leave_lists(keys)

    def unlisted_of(self, verdicts: Iterable[VerdictKey]) -> dict[VerdictKey, Unlisted]:
        """Return what lists of scores lack of verdicts; see ``VerdictRepository``."""
        return self.repository.unlisted_of(verdicts)

    def of_run(self, completion_ids: Iterable[str], run: OfGrader) -> dict[str, Verdict]:
        """Return the verdicts there are on a run's completions: the panel's where there is one."""
        grader_id, version = run.grader_id, run.grader_version
        if run.panel_id is not None:
            grader_id, version = run.panel_id, self.panels.get(run.panel_id).version
        return self.find_many(
            VerdictKey(id_, grader_id, version, run.generation) for id_ in completion_ids
        )

    def opinions_of(
        self,
        completions: Iterable[tuple[str, Panel]],
        generations: Mapping[str, int] = _FIRST,
    ) -> dict[str, list[Verdict]]:
        """Return the opinions of panels' members that there are, in the panel's order.

        Args:
            generations: of those completions that are not in their first.
        """
        return self.repository.opinions_on(completions, generations)

    def undecided(self, completion_ids: Sequence[str], asker: OfGrader) -> list[str]:
        """Return those completions of a run that are still to be graded, in the same order.

        They have no verdict, and no opinion of the run's grader where that is a panel's member.
        """
        found = self.of_run(completion_ids, asker)
        left = [id_ for id_ in completion_ids if id_ not in found]
        opinions = self._opinions_of(left, asker)
        return [id_ for id_ in left if id_ not in opinions]

    def undecided_after_crash(self, completion_ids: Sequence[str], asker: OfGrader) -> list[str]:
        """Return the same as ``undecided``, and have listed what is stored of the others.

        Whoever stored it may have died before it was listed.
        """
        found = self.of_run(completion_ids, asker)
        opinions = self._opinions_of(completion_ids, asker)
        for verdict in (*found.values(), *opinions.values()):
            self.lists.gather(verdict)
        return [id_ for id_ in completion_ids if id_ not in found and id_ not in opinions]

    def _opinions_of(self, completion_ids: Sequence[str], asker: OfGrader) -> dict[str, Verdict]:
        if asker.panel_id is None or not completion_ids:
            return {}
        return self.repository.opinions_of_member(completion_ids, asker)

    def matching(
        self,
        task_id: str,
        filters: ScoreFilters,
        *,
        limit: int,
        next_token: str | None,
        allowance: Allowance | None = None,
    ) -> tuple[list[Verdict], str | None]:
        """Return a page of a task's verdicts, without dimensions and reasoning.

        A page may be short, even empty, while the token says that there is more: it ends when its
        allowance is spent, by default what one page may read. Verdicts come in four runs, each in
        order of decision; whatever is written meanwhile, a walk returns each that was there at its
        start once, unless its completion is scored again.

        Args:
            filters: which ones; whatever ``filters.task_id`` is.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        start = ScorePosition(task_id)
        if next_token is not None:
            start = ScorePosition.from_token(next_token)
            if start.task_id != task_id:
                raise invalid_cursor()
        found, end = self.index.page(
            filters, start=start, limit=limit, allowance=allowance or Allowance()
        )
        return found, end.token() if end else None

    @staticmethod
    def token_behind(verdict: Verdict) -> str:
        """Return the token with which ``matching`` goes on behind one of a task's verdicts."""
        return ScorePosition.behind(verdict).token()
