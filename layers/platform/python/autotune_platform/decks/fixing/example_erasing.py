"""A deleted sample goes from all that has it as an example: versions, edits, what is published.

Who deletes a sample expects its text to be gone, so that erasing comes before the rule that nothing
of a version changes: texts are blanked, and the version says of which samples. Whoever deletes has
it done before the sample's header goes, so that it can be done again after a crash, and once more
behind that.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from autotune.protocol.levels import without_examples
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.fixing.proposals import ProposalRepository
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.models import GraderVersion
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

if TYPE_CHECKING:
    from autotune_platform.graders.example_erasing import RegisteredExamples

_ATTEMPTS = 4


@part
class ExampleEraser:
    """Erases the texts of samples from what cites them.

    Args:
        made_registered: returns what changes graders of the registry, which few requests need.
    """

    graders: DeckGraderRepository
    edits: EditRepository
    proposals: ProposalRepository
    samples: SamplePool
    made_registered: "Callable[[], RegisteredExamples]"

    def erase(self, deck_id: str, sample_id: str, *, published: bool = True) -> None:
        """Erase a sample's texts from versions, edits and published graders; again is fine.

        Args:
            published: whether published graders may have it.

        Raises:
            UnavailableError: the table is busy, or others keep changing what cites it.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            versions = [
                self.graders.erase_examples(one, _without(one, sample_id))
                for one in self.graders.citing(deck_id, sample_id)
                if _cites(one, sample_id)
            ]
            edits = [
                self.edits.store([self.edits.changed(one, _edit_without(one, sample_id))])
                for one in self.edits.citing(deck_id, sample_id)
                if _cites_in_patch(one, sample_id)
            ]
            named = self._forgotten_names(deck_id, sample_id)
            if all((*versions, *edits, *named)):
                break
        else:
            raise UnavailableError("others are changing what cites it", retry_after_seconds=1)
        if published:
            self._erase_published(deck_id, sample_id)

    def erase_gone(self, deck_id: str, sample_ids: Iterable[str]) -> None:
        """Erase those of some samples that were deleted while something was stored that cites them.

        Raises:
            UnavailableError: the table is busy.
        """
        cited = set(sample_ids)
        there = self.samples.get_many(deck_id, cited) if cited else {}
        for sample_id in cited - there.keys():
            self.erase(deck_id, sample_id, published=False)

    def _forgotten_names(self, deck_id: str, sample_id: str) -> list[bool]:
        """Erase what a model named it; return of each write whether it was done."""
        stored = []
        for grader in self.graders.list(deck_id):
            proposal = self.proposals.get(deck_id, grader.id)
            if proposal is not None and sample_id in proposal.codes:
                codes = {id_: code for id_, code in proposal.codes.items() if id_ != sample_id}
                changes = {"codes": codes, "revision": proposal.revision + 1}
                after = proposal.model_copy(update=changes)
                stored.append(self.proposals.store(proposal, after))
        return stored

    def _erase_published(self, deck_id: str, sample_id: str) -> None:
        for grader in self.graders.list(deck_id):
            if grader.published is not None:
                registered = grader.published.grader_id
                self.made_registered().erase(grader.organization_id, registered, {sample_id})


def _cites(version: GraderVersion, sample_id: str) -> bool:
    return any(one.sample_id == sample_id and not one.is_erased for one in version.rubric.examples)


def _without(version: GraderVersion, sample_id: str) -> GraderVersion:
    examples = without_examples(version.rubric.examples, {sample_id})
    return version.model_copy(
        update={
            "rubric": version.rubric.model_copy(update={"examples": examples}),
            "erased": sorted({*version.erased, sample_id}),
        }
    )


def _cites_in_patch(edit: Edit, sample_id: str) -> bool:
    return any(
        one.example is not None and one.example.sample_id == sample_id and not one.example.is_erased
        for one in edit.patch
    )


def _edit_without(edit: Edit, sample_id: str) -> Edit:
    patch = [
        one
        if one.example is None
        else one.model_copy(update={"example": without_examples([one.example], {sample_id})[0]})
        for one in edit.patch
    ]
    return edit.model_copy(
        update={
            "patch": patch,
            "erased": sorted({*edit.erased, sample_id}),
            "revision": edit.revision + 1,
        }
    )
