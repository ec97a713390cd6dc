"""The grader that a request about labels names, with the version that people were shown."""

from autotune_platform.access.models import Caller
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.models import criteria_digest
from autotune_platform.decks.models import DeckGrader, GraderVersion
from autotune_platform.decks.service import DeckService
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part


@part
class LabelledGraders:
    """Finds graders of the caller's organisation."""

    decks: DeckService
    graders: DeckGraderRepository

    def require(self, caller: Caller, deck_id: str, grader_id: str) -> DeckGrader:
        """Return a grader of a deck.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        deck = self.decks.require(caller, deck_id)
        return self.graders.get(deck.id, grader_id)

    def version(self, grader: DeckGrader, version: int | None = None) -> GraderVersion:
        """Return a version of a grader: the current one if none is named.

        Raises:
            InvalidRequestError: the grader has no such version.
        """
        number = version or grader.version
        found = self.graders.version(grader.deck_id, grader.id, number)
        if found is not None:
            return found
        if version is None:
            raise NotFoundError(f"no grader {grader.id}")
        raise InvalidRequestError.of_field("version", f"at most {grader.versions}, the latest")

    @staticmethod
    def require_shown(grader: DeckGrader, version: int, *shown: int) -> None:
        """Require that what a person says is of a version that they can have been shown.

        Args:
            shown: versions that they were given before, beside the current one.

        Raises:
            InvalidRequestError: it is another one, such as the candidate of an edit.
        """
        if version not in {grader.version, *shown}:
            expected = f"{grader.version}, the current one, or the one that the sample came with"
            raise InvalidRequestError.of_field("version", expected)

    def criteria(self, grader: DeckGrader) -> str:
        """Return the digest of what people are shown now."""
        return criteria_digest(self.version(grader).rubric)
