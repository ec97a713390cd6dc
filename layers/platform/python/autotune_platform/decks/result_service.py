"""What callers read of results: lists of a grader's, and those beside a sample."""

from collections.abc import Sequence
from typing import Any

from autotune.protocol import deck_results as wire
from autotune_platform.access.models import Caller
from autotune_platform.decks.graders import DeckGraderService
from autotune_platform.decks.held_out import HeldOut
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.result_models import GraderResult, ResultWords
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.decks.service import DeckService
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part

_MOST_OF_A_SAMPLE = 200


@part
class ResultService:
    """Shows the results of an organisation's decks."""

    decks: DeckService
    graders: DeckGraderService
    samples: SampleRepository
    results: ResultRepository
    labels: LabelRepository
    held_out: HeldOut

    def page(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        version: int | None,
        repeated: bool,
        status: wire.DeckResultStatus | None,
        score: int | None,
        limit: int,
        next_token: str | None,
    ) -> wire.DeckResultList:
        """Return a page of a grader's results, those of the newest samples first.

        Results on held-out samples are left out of a version that has no look at their labels.

        Args:
            version: of the grader; the current one where it is None.
            repeated: those of judgements that were made again, in place of the first.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        grader = self.graders.get(caller, deck_id, grader_id).grader
        number = grader.version if version is None else version
        named = self.graders.repository.version(deck_id, grader_id, number)
        is_candidate = named is not None and named.candidate
        filters: dict[str, Any] = {"status": status, "score": score}
        wanted = {name: value for name, value in filters.items() if value is not None}

        def read(**more: str) -> tuple[list[GraderResult], str | None]:
            return self.results.page(
                grader_id,
                number,
                repeated=repeated,
                wanted={**wanted, **more},
                limit=limit,
                next_token=next_token,
            )

        withheld = not self.held_out.may_show(grader, number, is_candidate=is_candidate)
        found, token = read(split="development") if withheld else read()
        if any(one.split == "holdout" for one in found):
            withheld = not self.held_out.show(grader, number, is_candidate=is_candidate)
            if withheld:  # another version was looked at first in the meantime
                found, token = read(split="development")
        shown = self._shown(caller, found)
        return wire.DeckResultList(results=shown, withheld=withheld, next_token=token)

    def of_sample(self, caller: Caller, deck_id: str, sample_id: str) -> wire.SampleResults:
        """Return results of a sample, by grader and version: the latest two hundred.

        Of a sample that is held out, those of versions that have a look at its labels.

        Raises:
            NotFoundError: there is no such deck or sample, or it is another organisation's.
        """
        self.decks.require(caller, deck_id)
        if sample_id not in self.samples.headers(deck_id, [sample_id]):
            raise NotFoundError(f"no sample {sample_id} in deck {deck_id}")
        found = self.results.of_sample(sample_id, limit=_MOST_OF_A_SAMPLE)
        free = self._free(deck_id, {(one.grader_id, one.version) for one in found if _is_held(one)})
        kept = [one for one in found if not _is_held(one) or (one.grader_id, one.version) in free]
        return wire.SampleResults(
            results=self._shown(caller, kept), withheld=len(kept) < len(found)
        )

    def _free(self, deck_id: str, judged: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """Return those versions whose results on held-out samples may be shown, and note that."""
        known = {one.id: one for one in self.graders.repository.list(deck_id)} if judged else {}
        free = set()
        # By version: where nothing was looked at, the lowest is the first.
        for grader_id, number in sorted(judged):
            grader = known.get(grader_id)
            version = self.graders.repository.version(deck_id, grader_id, number)
            if grader is None or version is None:
                continue
            if self.held_out.show(grader, number, is_candidate=version.candidate):
                free.add((grader_id, number))
        return free

    def _shown(self, caller: Caller, results: Sequence[GraderResult]) -> list[wire.DeckResult]:
        """Return results on the wire; what the caller says of these samples later is not blind."""
        words = self.results.words(results)
        for grader_id in {one.grader_id for one in results}:
            self.labels.note_shown(
                caller.organization_id,
                grader_id,
                caller.principal_id,
                {one.sample_id for one in results if one.grader_id == grader_id},
            )
        return [
            wire.DeckResult.model_validate(
                {**one.model_dump(), **words.get(one.id, ResultWords()).model_dump()}
            )
            for one in results
        ]


def _is_held(result: GraderResult) -> bool:
    return result.split == "holdout"
