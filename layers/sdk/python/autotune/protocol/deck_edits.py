"""Edits of rubrics on the wire: a patch, what it changes, and what became of it."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol import limits, types
from autotune.protocol.deck_effects import EditEffect, EditTrial
from autotune.protocol.deck_rubrics import ShownExample
from autotune.protocol.deck_runs import DeckEstimate, DeckRunStatus
from autotune.protocol.deck_samples import Split
from autotune.protocol.decks import Note, VersionNumber
from autotune.protocol.levels import Level, RubricExample

EditStatus = Literal["proposed", "replaying", "measured", "accepted", "rejected", "rolled_back"]
"""``measured``: there is a figure, of the development half at least."""

EditField = Literal["criteria", "level", "notApplicableWhen", "examples"]
EditOrigin = Literal["person", "model"]

_PatchText = Annotated[
    types.Text, StringConstraints(max_length=limits.MAX_LEVELS_CRITERIA_CHARACTERS)
]
_PatternText = Annotated[
    types.Text, StringConstraints(min_length=1, max_length=limits.MAX_EDIT_PATTERN_CHARACTERS)
]


class EditChange(types.RequestModel):
    """One change of a rubric: a passage of a text that is replaced, or an example that is added.

    Attributes:
        field: what is changed.
        level: which level's text, where ``field`` is ``level``.
        find: a passage that the text has exactly once; empty where there is no text yet.
        replace: what stands there afterwards.
        example: what is added to ``examples``: of a sample of the development half.
    """

    field: EditField
    level: Level | None = None
    find: _PatchText | None = None
    replace: _PatchText | None = None
    example: RubricExample | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.field == "level") != (self.level is not None):
            raise ValueError("expected level where field is level, and nowhere else")
        if self.field == "examples":
            if self.example is None or self.find is not None or self.replace is not None:
                raise ValueError("expected example alone where field is examples")
            if self.example.sample_id is None:
                raise ValueError("expected example.sampleId: a sample of the development half")
        elif self.example is not None or self.find is None or self.replace is None:
            raise ValueError("expected find and replace, and no example")
        return self


class EditPattern(types.RequestModel):
    """What goes wrong, in words."""

    name: _PatternText
    description: Annotated[
        types.Text, StringConstraints(max_length=limits.MAX_EDIT_PATTERN_CHARACTERS)
    ] = ""


class CreateEditRequest(types.RequestModel):
    """An edit of a grader's current version.

    Attributes:
        base_version: the version that it changes, which has to be the current one; the current one
            where it is left out.
        patch: all of it applies to the texts of that version.
        pattern: what it is to mend.
        sample_ids: samples that show it, of the development half.
    """

    base_version: VersionNumber | None = None
    patch: Annotated[
        list[EditChange],
        Field(min_length=1, max_length=limits.MAX_EDIT_CHANGES),
        types.at_most(limits.MAX_EDIT_CHANGES),
    ]
    pattern: EditPattern | None = None
    sample_ids: Annotated[
        list[types.SampleId],
        Field(max_length=limits.MAX_EDIT_SAMPLES),
        types.at_most(limits.MAX_EDIT_SAMPLES),
    ] = []
    note: Note = ""


class ReplayEditRequest(types.RequestModel):
    """Has labelled samples of one half judged by the edited version, and measures what changes.

    Attributes:
        split: the development half first. The held-out half spends a look at its labels.
        cap_nano_usd: the most that it may cost; what it costs at most where it is left out.
        labels_since: only labels that were given later, so that looks from before do not count;
            on the held-out half alone.
        accept_if_better: on the held-out half, the edit is accepted when it is measured, if its
            outcome is ``acceptable``: a person consents beforehand, to nothing newly positive.
    """

    split: Split
    cap_nano_usd: Annotated[int, Field(ge=0, le=limits.MAX_DECK_RUN_CAP, strict=True)] | None = None
    labels_since: types.Moment | None = None
    accept_if_better: bool = False

    @model_validator(mode="after")
    def _is_of_one_half(self) -> Self:
        if self.split == "development" and (self.labels_since or self.accept_if_better):
            raise ValueError("expected labelsSince and acceptIfBetter with split holdout alone")
        return self


class EditEstimate(DeckEstimate):
    """What a replay would probably cost, and at most; nothing is asked, stored or spent.

    Attributes:
        look: which look at the held-out labels it would be, and ``alpha`` its level; null on the
            development half.
    """

    look: int | None = None
    alpha: float | None = None


class EditEstimateResponse(types.ResponseModel):
    """The estimate of a replay."""

    estimate: EditEstimate


class AcceptEditRequest(types.RequestModel):
    """Makes the edited version the current one.

    Attributes:
        consent: the person consents to clearly bad samples that are newly called positive, and to
            levels where the question does not apply.
    """

    consent: bool = False


class DecideEditRequest(types.RequestModel):
    """Rejects an edit, or takes back one that was accepted."""

    reason: Note = ""


class ShownChange(types.ResponseModel):
    """A change of a rubric, as an edit shows it."""

    field: str
    level: int | None = None
    find: str | None = None
    replace: str | None = None
    example: ShownExample | None = None


class ShownPattern(types.ResponseModel):
    """What goes wrong, as an edit shows it."""

    name: str
    description: str = ""


class DeckEdit(types.ResponseModel):
    """A patch of a grader's rubric, what it was measured to change, and what became of it.

    Attributes:
        base_version: the version that it changes.
        candidate_version: the version that it makes, once it was replayed; not the current one
            before the edit is accepted.
        proposal_cost_nano_usd: what it cost that a model proposed it: its own answer, and an even
            share of what was asked for all patterns; 0 where a person did.
        run_id: the latest replay, and ``split`` its half.
        unfinished: how the latest replay ended, where it did not come to an end.
        look: which look at the held-out labels it is; it was spent when that replay began.
        trial: what it changes on the development half.
        effect: what it changes on the held-out half.
        consented: whether a person consented to what needed it.
        reason: why it was rejected or taken back.
        erased: samples that were deleted: examples that were these have no text any more.
    """

    id: str
    deck_id: str
    grader_id: str
    status: EditStatus
    origin: EditOrigin
    base_version: int
    candidate_version: int | None = None
    patch: list[ShownChange]
    pattern: ShownPattern | None = None
    sample_ids: list[str] = []
    note: str = ""
    proposal_cost_nano_usd: int = 0
    run_id: str | None = None
    split: Split | None = None
    unfinished: DeckRunStatus | None = None
    look: int | None = None
    trial: EditTrial | None = None
    effect: EditEffect | None = None
    consented: bool = False
    reason: str = ""
    erased: list[str] = []
    created_at: types.Timestamp
    created_by: str
    decided_at: types.Timestamp | None = None
    decided_by: str | None = None


class DeckEditResponse(types.ResponseModel):
    """One edit of a grader."""

    edit: DeckEdit


class DeckEditList(types.ResponseModel):
    """A page of a grader's edits, newest first.

    Attributes:
        looks: looks at the held-out labels that were spent by all versions, beside the first.
        next_alpha: the level of the next look at these labels.
    """

    edits: list[DeckEdit]
    looks: int
    next_alpha: float
    next_token: str | None = None
