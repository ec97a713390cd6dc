"""Graders of decks on the wire: rubrics of seven levels, in versions that never change."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator

from autotune.protocol import types
from autotune.protocol.deck_effects import EditEffect
from autotune.protocol.deck_publishing import (
    PublishedGrader,
    ShownCalibration,
    UncalibratedBecause,
)
from autotune.protocol.decks import Note, VersionNumber
from autotune.protocol.levels import LEVELS, Level, LevelsRubric, RubricExample
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import ConnectionId
from autotune.protocol.rubric_lint import RubricRemark

__all__ = ["LEVELS", "DeckJudge", "Level", "LevelsRubric", "RubricExample"]

DeckGraderStatus = Literal["proposed", "active", "retired"]
DeckGraderOrigin = Literal["model", "person", "import"]
EditId = Annotated[str, StringConstraints(pattern=r"^edt_[0-9a-v]{26}$")]


class DeckJudge(types.RequestModel):
    """The model that judges by a rubric.

    Attributes:
        connection_id: where it is called, with whose key, and at whose cost.
        params: as of any request; there is no ``response_format``, because the model answers in
            words that end in its verdict.
    """

    connection_id: ConnectionId
    model: ModelName
    params: LlmParams

    @field_validator("params")
    @classmethod
    def _leaves_the_format(cls, params: LlmParams) -> LlmParams:
        if params.response_format is not None:
            raise ValueError("expected no responseFormat: the answer ends in a line VERDICT")
        return params


class CreateDeckGraderRequest(types.RequestModel):
    """A grader of a deck; without ``judge`` it cannot be activated."""

    name: types.Name
    rubric: LevelsRubric
    judge: DeckJudge | None = None
    origin: Literal["person", "import"] = "person"
    note: Note = ""


class UpdateDeckGraderRequest(types.RequestModel):
    """Fields to change; what is left out stays.

    ``version`` makes a version that exists the current one, which is how a change is rolled back.
    ``shared_share`` of the samples is rated by ``shared_raters`` people, which shows how far people
    agree.
    """

    name: types.Name | None = None
    status: Literal["active", "retired"] | None = None
    version: VersionNumber | None = None
    shared_share: types.UnitInterval | None = None
    shared_raters: Annotated[int, Field(ge=2, le=5, strict=True)] | None = None


class CreateGraderVersionRequest(types.RequestModel):
    """A further version of a deck's grader, which becomes the current one.

    ``parent`` is the version that it was made from: the current one where it is left out. Where it
    is given, it has to be the current one still, or ``409`` is answered. Without ``judge``, the
    parent's is taken over.
    """

    rubric: LevelsRubric
    judge: DeckJudge | None = None
    note: Note = ""
    parent: VersionNumber | None = None
    edit_id: EditId | None = None


class ShownExample(types.ResponseModel):
    """An example of a rubric, as a deck shows it."""

    input: str
    output: str
    level: int
    explanation: str = ""
    sample_id: str | None = None


class ShownRubric(types.ResponseModel):
    """A rubric as a deck shows it."""

    criteria: str
    levels: list[str]
    not_applicable_when: str | None = None
    examples: list[ShownExample] = []


class ShownJudge(types.ResponseModel):
    """The judge of a rubric, as a deck shows it; ``params`` are spelled as they were sent."""

    connection_id: str
    model: str
    params: dict[str, Any]


class DeckGraderVersion(types.ResponseModel):
    """One version of a deck's grader; it never changes, but for texts of deleted samples.

    Attributes:
        digest: SHA-256, in hexadecimal, of rubric and judge: it names what was judged by.
        parent: the version that it was made from; None of the first.
        edit_id: the edit that made it, if one did.
        candidate: whether it is of an edit that is not accepted: it cannot become the current one.
        erased: samples that were deleted: examples that were these have no text any more, and no
            judge is shown them. The digest names what was judged by before.
        effect: what that edit changed on the held-out half, once it was accepted.
        author: the principal that made it.
        lint: what of the rubric is empty, repeated or vague.
    """

    deck_id: str
    grader_id: str
    version: int
    digest: str
    rubric: ShownRubric
    judge: ShownJudge | None = None
    parent: int | None = None
    note: str
    edit_id: str | None = None
    candidate: bool = False
    erased: list[str] = []
    effect: EditEffect | None = None
    author: str
    lint: list[RubricRemark] = []
    created_at: types.Timestamp


class DeckGrader(types.ResponseModel):
    """A grader of a deck, with its current version.

    Attributes:
        shared_share: the share of samples that several people are to rate.
        shared_raters: how many those are.
        published: the snapshot by which tasks score; its version may be an earlier one.
        calibration: how far that one's judge agrees with people, where that was measured.
        uncalibrated_because: why it is not calibrated, where it is published.
        lint: what of the rubric is empty, repeated or vague.
    """

    id: str
    deck_id: str
    name: str
    status: DeckGraderStatus
    origin: DeckGraderOrigin
    version: int
    digest: str
    rubric: ShownRubric
    judge: ShownJudge | None = None
    shared_share: float
    shared_raters: int
    published: PublishedGrader | None = None
    calibration: ShownCalibration | None = None
    uncalibrated_because: UncalibratedBecause | None = None
    lint: list[RubricRemark] = []
    created_at: types.Timestamp
    updated_at: types.Timestamp
    created_by: str


class DeckGraderResponse(types.ResponseModel):
    """One grader of a deck."""

    grader: DeckGrader


class DeckGraderList(types.ResponseModel):
    """All graders of a deck, oldest first."""

    graders: list[DeckGrader]


class GraderVersionResponse(types.ResponseModel):
    """One version of a deck's grader."""

    version: DeckGraderVersion


class GraderVersionList(types.ResponseModel):
    """A page of a grader's versions, newest first; it has fewer where rubrics are long."""

    versions: list[DeckGraderVersion]
    next_token: str | None = None
