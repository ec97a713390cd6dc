"""What callers read of results: lists of a grader's, and those beside a sample."""

from collections.abc import Sequence
from typing import Any

from autotune.protocol import deck_results as wire
from autotune_platform.access.models import Caller
from autotune_platform.decks.graders import DeckGraderService
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
    ) -> tuple[list[wire.DeckResult], str | None]:
        """Return a page of a grader's results, those of the newest samples first.

        Args:
            version: of the grader; the current one where it is None.
            repeated: those of judgements that were made again, in place of the first.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        grader = self.graders.get(caller, deck_id, grader_id).grader
        filters: dict[str, Any] = {"status": status, "score": score}
        found, token = self.results.page(
            grader_id,
            grader.version if version is None else version,
            repeated=repeated,
            wanted={name: value for name, value in filters.items() if value is not None},
            limit=limit,
            next_token=next_token,
        )
        return self._shown(caller, found), token

    def of_sample(self, caller: Caller, deck_id: str, sample_id: str) -> list[wire.DeckResult]:
        """Return results of a sample, by grader and version: the latest two hundred.

        Raises:
            NotFoundError: there is no such deck or sample, or it is another organisation's.
        """
        self.decks.require(caller, deck_id)
        if sample_id not in self.samples.headers(deck_id, [sample_id]):
            raise NotFoundError(f"no sample {sample_id} in deck {deck_id}")
        found = self.results.of_sample(sample_id, limit=_MOST_OF_A_SAMPLE)
        return self._shown(caller, found)

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
