"""Ratings as they were given, with every correction."""

from collections.abc import Sequence

from autotune_platform.access.models import Caller
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Rating
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.runtime.parts import part


@part
class RatingList:
    """Lists ratings; who only labels sees their own."""

    graders: LabelledGraders
    labels: LabelRepository

    def list(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        sample_id: str | None,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[Rating], str | None]:
        """Return a page of ratings, by sample and rater; of one sample if it is named.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        if caller.role == "reviewer":
            return self.labels.ratings_by(
                caller.principal_id,
                grader.id,
                sample_id=sample_id,
                limit=limit,
                next_token=next_token,
            )
        return self.labels.ratings(
            grader.id, sample_id=sample_id, limit=limit, next_token=next_token
        )
