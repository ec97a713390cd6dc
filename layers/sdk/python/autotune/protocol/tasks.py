"""Tasks on the wire."""

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from autotune.protocol import limits, types
from autotune.protocol.levels import Uncalibrated

PromptTemplate = Annotated[str, StringConstraints(max_length=limits.MAX_PROMPT_TEMPLATE_CHARACTERS)]
DeadlineSeconds = Annotated[
    int, Field(ge=limits.MIN_DEADLINE_SECONDS, le=limits.MAX_DEADLINE_SECONDS, strict=True)
]
RetentionDays = Annotated[
    int, Field(ge=limits.MIN_RETENTION_DAYS, le=limits.MAX_RETENTION_DAYS, strict=True)
]
Weight = Annotated[
    float, Field(gt=0, le=limits.MAX_GRADER_WEIGHT, allow_inf_nan=False, strict=True)
]
Quorum = Annotated[int, Field(ge=1, le=limits.MAX_TASK_GRADERS, strict=True)]

Aggregation = Literal["mean", "median", "min", "confidence_weighted", "majority"]
"""How the values of several graders become one."""

OnExpiry = Literal["keep", "abstain", "fail"]
"""What becomes of a completion whose review nobody answered in time."""


class GraderWeight(types.RequestModel):
    """One of a task's graders; only the ratio of its ``weight`` to the others' counts."""

    grader_id: types.GraderId
    weight: Weight = 1.0


class ReviewPolicy(types.RequestModel):
    """When a person looks at the scores of graders, and what happens where none does in time.

    A person is asked where the confidence is lower than ``confidence_below``, an abstention
    counting as 0; where the highest and the lowest value differ by more than
    ``disagreement_above``; and for ``sampled_share`` of all completions, drawn by their ids.
    ``on_expiry`` ``keep`` keeps the graders' score, and fails with ``review_expired`` where they
    gave none. ``instructions`` are shown to reviewers; so is the completion's metadata with
    ``show_metadata``, and with ``show_reference`` what of it a grader would compare with: its field
    ``reference``, else ``answer``. For ``second_opinion_share`` of the reviews, drawn by their ids,
    another person is asked as well once the first has answered. With ``correct_within_minutes`` a
    reviewer may change an answer for so long, and the verdict waits for that.
    """

    confidence_below: types.UnitInterval | None = None
    disagreement_above: types.UnitInterval | None = None
    sampled_share: types.UnitInterval | None = None
    expires_after_seconds: Annotated[
        int, Field(ge=limits.MIN_REVIEW_SECONDS, le=limits.MAX_REVIEW_SECONDS, strict=True)
    ] = 259_200
    on_expiry: OnExpiry = "keep"
    instructions: types.Description = ""
    show_reference: bool = False
    show_metadata: bool = False
    second_opinion_share: types.UnitInterval | None = None
    correct_within_minutes: Annotated[
        int, Field(ge=0, le=limits.MAX_CORRECTION_MINUTES, strict=True)
    ] = 0


Graders = Annotated[
    list[GraderWeight],
    Field(min_length=1, max_length=limits.MAX_TASK_GRADERS),
    types.at_most(limits.MAX_TASK_GRADERS),
]


class _NamesGraders(types.RequestModel):
    """The rules that hold between a request's fields on graders."""

    graders: Graders | None = None
    grader_id: types.GraderId | None = None
    aggregation: Aggregation | None = None
    quorum: Quorum | None = None

    @field_validator("graders")
    @classmethod
    def _each_once(cls, graders: list[GraderWeight] | None) -> list[GraderWeight] | None:
        for grader_id, times in Counter(one.grader_id for one in graders or []).most_common(1):
            if times > 1:
                raise ValueError(f"no grader may be named twice, as {grader_id} is")
        return graders

    @field_validator("grader_id")
    @classmethod
    def _not_both(cls, grader_id: str | None, info: ValidationInfo) -> str | None:
        if grader_id is not None and info.data.get("graders") is not None:
            raise ValueError("graderId and graders must not both be given")
        return grader_id

    @field_validator("quorum")
    @classmethod
    def _attainable(cls, quorum: int | None, info: ValidationInfo) -> int | None:
        graders = info.data.get("graders")
        known = 1 if info.data.get("grader_id") else len(graders) if graders else None
        if quorum is not None and known is not None and quorum > known:
            raise ValueError(f"quorum must be at most the number of graders, {known}")
        return quorum

    def all_graders(self) -> list[GraderWeight]:
        """Return the graders, however they are named; an empty list where none are."""
        if self.grader_id is not None:
            return [GraderWeight(grader_id=self.grader_id)]
        return self.graders or []


class CreateTaskRequest(_NamesGraders):
    """What is to be scored, and by which grader or graders: exactly one of the two is given.

    ``quorum`` is how many graders have to score a completion for the whole to count as scored; all
    of them without it. ``review`` asks a person where graders are unsure. ``share_identity`` lets
    graders see each completion's ``model_id``; without it they never learn what they are scoring. A
    completion that has no verdict ``deadline_seconds`` after it was submitted ends ``failed`` with
    ``deadline_exceeded``. Prompt, response and metadata of a completion are gone ``retention_days``
    after it was submitted, which is then its latest deadline as well; its verdict stays.
    ``uncalibrated`` is what becomes of completions where a rubric grader is not calibrated; without
    it, one whose rubric has levels abstains, and one of another kind, which never is, scores.
    """

    name: types.Name
    aggregation: Aggregation = "mean"
    review: ReviewPolicy | None = None
    description: types.Description = ""
    prompt_template: PromptTemplate = ""
    metadata: types.Metadata = {}
    share_identity: bool = False
    deadline_seconds: DeadlineSeconds | None = None
    retention_days: RetentionDays | None = None
    uncalibrated: Uncalibrated | None = None

    @model_validator(mode="before")
    @classmethod
    def _named_where_missing(cls, data: Any) -> Any:
        # What is not there is not validated; as null it is, and the error names the field.
        if isinstance(data, dict) and not {"graderId", "grader_id", "graders"} & data.keys():
            return {**data, "graderId": None}
        return data

    @field_validator("grader_id")
    @classmethod
    def _one_of_them(cls, grader_id: str | None, info: ValidationInfo) -> str | None:
        if grader_id is None and info.data.get("graders", ...) is None:
            raise ValueError("exactly one of graderId and graders must be given")
        return grader_id


class UpdateTaskRequest(_NamesGraders):
    """Fields to change; what is left out stays.

    A null ``deadline_seconds``, ``review``, ``retention_days`` or ``uncalibrated`` lifts it, a null
    ``quorum`` makes it all graders.
    Other graders take the place of all that there were, and lift a quorum that is not given anew.
    """

    name: types.Name | None = None
    review: ReviewPolicy | None = None
    description: types.Description | None = None
    prompt_template: PromptTemplate | None = None
    metadata: types.Metadata | None = None
    share_identity: bool | None = None
    deadline_seconds: DeadlineSeconds | None = None
    retention_days: RetentionDays | None = None
    uncalibrated: Uncalibrated | None = None


class TaskGrader(GraderWeight):
    """One of a task's graders, as a task shows it."""

    model_config = ConfigDict(extra="ignore")


class TaskReview(ReviewPolicy):
    """A review policy, as a task shows it."""

    model_config = ConfigDict(extra="ignore")


class Task(types.ResponseModel):
    """A definition of what needs to be scored.

    ``graders`` are all of them; ``grader_id`` is there where it is only one. Without ``quorum`` all
    of them have to score.
    """

    id: str
    organization_id: str
    name: str
    description: str
    prompt_template: str
    metadata: types.Metadata
    grader_id: str | None = None
    graders: list[TaskGrader] = []
    aggregation: Aggregation = "mean"
    quorum: int | None = None
    review: TaskReview | None = None
    share_identity: bool
    deadline_seconds: int | None = None
    retention_days: int | None = None
    uncalibrated: Uncalibrated | None = None
    created_at: types.Timestamp
    updated_at: types.Timestamp


class TaskResponse(types.ResponseModel):
    """One task."""

    task: Task


class TaskList(types.ResponseModel):
    """A page of tasks, oldest first."""

    tasks: list[Task]
    next_token: str | None = None
