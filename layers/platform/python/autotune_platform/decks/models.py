"""Decks, their versions and their graders as the platform sees them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from autotune.protocol.deck_effects import EditEffect
from autotune.protocol.deck_publishing import UncalibratedBecause
from autotune.protocol.deck_rubrics import (
    DeckGraderOrigin,
    DeckGraderStatus,
    DeckJudge,
)
from autotune.protocol.deck_samples import SampleCollection, Split
from autotune.protocol.decks import DeckStatus
from autotune.protocol.levels import Calibration, LevelsRubric
from autotune_platform.judging.rubric.conversations import SampleTexts as ReadTexts
from autotune_platform.judging.rubric.conversations import sample_texts
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity


class Deck(Entity):
    """A system prompt with its samples and graders.

    Attributes:
        version: number of the current version.
        versions: number of the latest one, which is above it after a rollback.
        revision: how often the deck was changed; a write names the one that it has read.
    """

    name: str
    description: str
    status: DeckStatus = "draft"
    version: int = 1
    versions: int = 1
    holdout_share: float
    created_at: datetime
    updated_at: datetime
    created_by: str
    revision: int = 1


class DeckCounts(FrozenModel):
    """How many samples and graders a deck has."""

    samples: int = 0
    graders: int = 0


class DeletedDeck(FrozenModel):
    """What stays of a deleted deck until everything of it is erased.

    Attributes:
        graders: the ids of those that it had.
    """

    id: str
    organization_id: str
    deleted_at: datetime
    graders: list[str]


class DeletedGrader(FrozenModel):
    """What stays of a deleted grader until everything of it is erased."""

    id: str
    organization_id: str
    deck_id: str
    deleted_at: datetime


class DeckVersion(FrozenModel):
    """One version of a deck's system prompt; it never changes.

    Attributes:
        prompt_edit_id: the edit that tries its prompt.
    """

    organization_id: str
    deck_id: str
    version: int
    system_prompt: str
    prompt_hash: str
    placeholders: list[str]
    parent: int | None = None
    prompt_edit_id: str | None = None
    note: str
    author: str
    created_at: datetime


class Drifted(FrozenModel):
    """That a model judged otherwise than it was measured: what it said until then counts no more.

    Attributes:
        version: of the deck's grader.
        sample_ids: those whose labels showed it; they have to be judged again, too.
    """

    at: datetime
    version: int
    sample_ids: list[str]


class Published(FrozenModel):
    """What of a deck's grader is published as a grader of the registry.

    Attributes:
        grader_version: of the registry's grader.
        calibration: what was measured of its judge; None where that was not enough to say anything.
        because: why it is not calibrated.
        drifted: by model, when it was found to judge otherwise than it was measured.
    """

    grader_id: str
    grader_version: str
    version: int
    deck_version: int
    at: datetime
    calibration: Calibration | None = None
    because: UncalibratedBecause | None = None
    drifted: Mapping[str, Drifted] = {}


class DeckGrader(Entity):
    """A grader of a deck; ``version``, ``versions`` and ``revision`` are as a deck's.

    Attributes:
        shared_share: the share of samples that several people are to rate.
        shared_raters: how many those are.
    """

    deck_id: str
    name: str
    status: DeckGraderStatus
    origin: DeckGraderOrigin
    version: int = 1
    versions: int = 1
    digest: str
    shared_share: float = 0.2
    shared_raters: int = 2
    published: Published | None = None
    created_at: datetime
    updated_at: datetime
    created_by: str
    revision: int = 1


class GraderVersion(FrozenModel):
    """One version of a deck's grader; its content never changes, and ``digest`` names it.

    Attributes:
        candidate: whether it is of an edit that is not accepted, and is never current.
        erased: samples that were deleted: of examples that were these, no text is left. The digest
            stays, and names what was judged by before.
        effect: what the edit changed, written when it is accepted.
    """

    organization_id: str
    deck_id: str
    grader_id: str
    version: int
    digest: str
    rubric: LevelsRubric
    judge: DeckJudge | None = None
    parent: int | None = None
    note: str
    edit_id: str | None = None
    candidate: bool = False
    erased: list[str] = []
    effect: EditEffect | None = None
    author: str
    created_at: datetime


class MeasuredGrader(FrozenModel):
    """How far the current version of a grader agreed with people when that was read."""

    grader_id: str
    name: str
    version: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    labels: int
    sufficient: bool
    at: datetime


class DeckFigures(FrozenModel):
    """What its ended runs cost, in nano-USD, and its graders as they were last measured."""

    spent_nano_usd: int = 0
    agreement: Sequence[MeasuredGrader] = ()


def _no_figures() -> DeckFigures:
    """Return figures of nothing; a model as a factory would be built where it is imported."""
    return DeckFigures()


class WholeDeck(FrozenModel):
    """A deck with what is kept beside it."""

    deck: Deck
    counts: DeckCounts
    figures: DeckFigures = Field(default_factory=_no_figures)
    prompt: str | None = None


class WholeGrader(FrozenModel):
    """A grader of a deck with its current version."""

    grader: DeckGrader
    current: GraderVersion


class Sample(Entity):
    """What is known of a sample beside its texts.

    Attributes:
        external_id: the caller's own id, of no other sample of the deck.
        group_key: digest of its group; samples with the same one are in the same half.
        content_hash: digest of its texts.
        duplicate_of: the first sample of the deck with the same texts, if this is not it.
        came_by: its collection; an attribute of that name would put it into the index of decks,
            all samples of all organisations in two partitions.
        source_id: of one that was generated, the sample whose input it answers.
        prompt_edit_id: the edit of the system prompt that it was generated for.
        served_model: of one that was generated, the model that its provider says has answered; None
            where it says nothing.
        judged_bytes: how many bytes of a judge's question its conversation and response are.
        expires_at: when it is erased, with all that was said of it; None for never.
        has_object: whether its texts are in the bucket, because they outgrow an item.
    """

    deck_id: str
    deck_version: int
    external_id: str | None = None
    split: Split
    group_key: str
    content_hash: str
    duplicate_of: str | None = None
    came_by: SampleCollection
    source_id: str | None = None
    prompt_edit_id: str | None = None
    served_model: str | None = None
    provider: str | None = None
    model: str | None = None
    input_excerpt: str
    output_excerpt: str
    input_characters: int
    output_characters: int
    judged_bytes: int
    created_at: datetime
    requested_at: datetime | None = None
    expires_at: datetime | None = None
    has_object: bool = False


class SampleTexts(FrozenModel):
    """A sample's request and response, and what the caller said of them.

    Attributes:
        values: what stands in the request for the placeholders of the prompt, by name, where
            redacting has changed literal text of it: it cannot be found by the prompt any more.
    """

    request: dict[str, Any]
    response: dict[str, Any]
    metadata: dict[str, Any]
    values: dict[str, str] | None = None

    def read(self) -> ReadTexts:
        """Return the texts as judges read them."""
        return sample_texts(self.request, self.response).model_copy(update={"values": self.values})


class WholeSample(FrozenModel):
    """A sample with its texts."""

    sample: Sample
    texts: SampleTexts
