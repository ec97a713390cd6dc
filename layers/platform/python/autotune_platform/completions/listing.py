"""Listing verdicts, with or without what was judged, to who may see them."""

from collections.abc import Callable
from functools import partial

from autotune.protocol.completions import ScoredCompletion
from autotune_platform.access.models import Caller, Scope
from autotune_platform.completions.service import CompletionService
from autotune_platform.completions.wire import completion_on_wire, verdict_on_wire
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.http.bodies import response_bytes
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.service import VerdictService
from autotune_platform.verdicts.walking import ScoreWalk

# Lambda returns at most 6 MB, the envelope included.
_LARGEST_PAGE_BYTES = 5_000_000


_Walk = Callable[[ScoreFilters], tuple[list[Verdict], str | None]]


@part
class ScoreListing:
    """Lists verdicts with what each caller may see."""

    walk: ScoreWalk
    verdicts: VerdictService
    completions: CompletionService
    graders: GraderDirectory

    def page(
        self,
        caller: Caller,
        scope: Scope,
        filters: ScoreFilters,
        *,
        with_completions: bool,
        limit: int,
        next_token: str | None,
        newest_first: bool = False,
    ) -> tuple[list[ScoredCompletion], str | None]:
        """Return a page of verdicts; in ``own`` those of own graders only.

        A page may be short, even empty, while the token says that there is more.

        Raises:
            NotFoundError: there is no such task in the caller's organisation.
            InvalidRequestError: ``next_token`` is not from this list, or there is no task to list
                newest first.
        """
        walk = partial(
            self.walk.page, caller, limit=limit, next_token=next_token, newest_first=newest_first
        )
        if scope == "own":
            return self._of_own_graders(caller, filters, walk)
        verdicts, token = walk(filters)
        if not with_completions:
            return [_scored(verdict) for verdict in verdicts], token
        return self._with_completions(verdicts, token, newest_first=newest_first)

    def _of_own_graders(
        self, caller: Caller, filters: ScoreFilters, walk: _Walk
    ) -> tuple[list[ScoredCompletion], str | None]:
        # The store is not asked for a model: what it finds would show which model it was.
        verdicts, token = walk(filters.model_copy(update={"model_id": None}))
        own = self.graders.managed(caller, "own", {verdict.grader_id for verdict in verdicts})
        given = [verdict for verdict in verdicts if verdict.grader_id in own]
        headers = self.completions.headers(verdict.completion_id for verdict in given)
        # What has expired has no header any more, and its model is shown to nobody.
        sharing = {id_ for id_, header in headers.items() if header.share_identity}
        listed = [
            _scored(verdict, shows_model=verdict.completion_id in sharing) for verdict in given
        ]
        if filters.model_id is not None:
            listed = [scored for scored in listed if scored.model_id == filters.model_id]
        return listed, token

    def _with_completions(
        self, verdicts: list[Verdict], token: str | None, *, newest_first: bool
    ) -> tuple[list[ScoredCompletion], str | None]:
        whole = self.verdicts.find_many(verdict.key for verdict in verdicts)
        completions = self.completions.load(whole)
        listed: list[ScoredCompletion] = []
        size = 0
        for verdict in verdicts:
            completion = completions.get(verdict.completion_id)
            scored = _scored(whole[verdict.completion_id]).model_copy(
                update={"completion": completion_on_wire(completion) if completion else None}
            )
            size += response_bytes(scored)
            if listed and size > _LARGEST_PAGE_BYTES:
                last = verdicts[len(listed) - 1]
                return listed, self.walk.token_behind(last, newest_first=newest_first)
            listed.append(scored)
        return listed, token


def _scored(verdict: Verdict, *, shows_model: bool = True) -> ScoredCompletion:
    return ScoredCompletion(**dict(verdict_on_wire(verdict, shows_model=shows_model)))
