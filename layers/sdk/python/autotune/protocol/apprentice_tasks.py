"""Tasks of the apprentice on the wire: what is asked, who answers, and what it may cost.

Fields are those of ``apprentice.yaml``, in camelCase. Together they are a *configuration*. One that
differs from the last is a new version, and no version ever changes.
"""

import json
import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from autotune.protocol import limits
from autotune.protocol.apprentice_models import (
    LocalModel,
    RemoteModels,
    Training,
    require_trainable,
)
from autotune.protocol.apprentice_names import TASK_NAME as TASK_NAME  # noqa: PLC0414
from autotune.protocol.apprentice_spend import ApprenticeSpend
from autotune.protocol.llm_connections import UsdAmount
from autotune.protocol.llm_templates import VARIABLE_NAME, names_in
from autotune.protocol.types import (
    Description,
    GraderId,
    RequestModel,
    ResponseModel,
    Text,
    Timestamp,
    at_most,
)

# Closer to an end, no number of pairs would show anything.
_Between = Annotated[float, Field(ge=0.001, le=0.999, allow_inf_nan=False, strict=True)]
_Prompt = Annotated[
    Text, StringConstraints(min_length=1, max_length=limits.MAX_APPRENTICE_PROMPT_CHARACTERS)
]


def _whole(value: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("expected text that UTF-8 can hold, without halves of pairs") from error
    return value


_Schema = Annotated[dict[str, Any], AfterValidator(_whole)]
_FieldName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
_DURATION = re.compile(r"([1-9][0-9]{0,4})([mhd])")
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400}
_LONGEST_SECONDS = 366 * 86_400


def seconds_of(duration: str) -> int:
    """Return the seconds of a duration such as ``30m``, ``12h`` or ``7d``.

    Raises:
        ValueError: it is none, or over a year.
    """
    found = _DURATION.fullmatch(duration)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not 0 < seconds <= _LONGEST_SECONDS:
        raise ValueError("expected a duration of at most a year, such as 30m, 12h or 7d")
    return seconds


def _duration(text: str) -> str:
    seconds_of(text)
    return text


Duration = Annotated[str, AfterValidator(_duration)]
"""A number of minutes, hours or days: ``30m``, ``12h``, ``7d``."""


class StructuredMatch(RequestModel):
    """Right is the share of ``match_fields`` of the output that are equal."""

    type: Literal["structured_match"]
    match_fields: Annotated[
        list[_FieldName],
        at_most(limits.MAX_MATCH_FIELDS),
        Field(min_length=1, max_length=limits.MAX_MATCH_FIELDS),
    ]


class ExactMatch(RequestModel):
    """Right is what is equal as a whole: 1, or 0."""

    type: Literal["exact_match"]


class SemanticSimilarity(RequestModel):
    """Right is the cosine of two outputs' embeddings, not below 0.

    Attributes:
        embedding_model: one that the operator has stored. Its name ends with digits of its digest,
            so that other weights are another definition.
    """

    type: Literal["semantic_similarity"]
    embedding_model: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class CustomEvaluator(RequestModel):
    """A registered grader, which owns its code: nothing of its owner runs here."""

    type: Literal["custom"]
    grader_id: GraderId


Evaluator = Annotated[
    StructuredMatch | ExactMatch | SemanticSimilarity | CustomEvaluator,
    Field(discriminator="type"),
]


class Thresholds(RequestModel):
    """When the small model is tried, taken over from, and taken over by.

    Attributes:
        phase1_to_phase2: examples before there is a small model.
        phase2_to_phase3: agreement that it has to exceed, by evidence, to answer alone.
        coaching_trigger: agreement below which it no longer does.
        emergency_threshold: agreement below which it is not even asked.
    """

    phase1_to_phase2: Annotated[int, Field(ge=50, le=1_000_000, strict=True)]
    phase2_to_phase3: _Between
    coaching_trigger: _Between
    emergency_threshold: _Between

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.emergency_threshold < self.coaching_trigger < self.phase2_to_phase3:
            raise ValueError("emergencyThreshold below coachingTrigger, that below phase2ToPhase3")
        return self


class Confidence(RequestModel):
    """How agreement is watched.

    Attributes:
        window_size: pairs of the window whose mean and trend are shown.
        trend_sensitivity: a fall of one window by more than this is a shift.
        max_window_age: pairs older than this leave the window.
        alpha: how probable it may be that a model that is not good enough ever takes over.
        false_alarm_pairs: so many pairs, on average and at least, lie before a false alarm.
    """

    window_size: Annotated[int, Field(ge=20, le=10_000, strict=True)] = 100
    trend_sensitivity: _Between = 0.10
    max_window_age: Duration = "7d"
    alpha: Annotated[float, Field(ge=1e-6, le=0.5, allow_inf_nan=False, strict=True)] = 0.05
    false_alarm_pairs: Annotated[int, Field(ge=100, le=1_000_000, strict=True)] = 1_000


class Step(RequestModel):
    """From a lower bound of agreement of ``at`` on, ``rate`` of the answers are checked.

    It is Wilson's bound of the window's mean; below the first step all answers are checked.
    """

    at: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
    rate: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, strict=True)]


class Sampling(RequestModel):
    """Which share of the small model's answers the paid one checks.

    Attributes:
        decay: how the share falls as certainty grows.
        k: how fast ``exponential`` falls.
        steps: the table of ``step``: bounds that grow, shares that fall.
        min_floor: the least share.
    """

    decay: Literal["exponential", "linear", "step"]
    k: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False, strict=True)] = 4.0
    steps: Annotated[list[Step], at_most(20), Field(max_length=20)] = []
    min_floor: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False, strict=True)] = 0.02

    @model_validator(mode="after")
    def _steps_where_they_count(self) -> Self:
        if bool(self.steps) != (self.decay == "step"):
            raise ValueError("steps: needed by the decay step, and by no other")
        pairs = list(zip(self.steps, self.steps[1:], strict=False))
        if any(two.at <= one.at or two.rate >= one.rate for one, two in pairs):
            raise ValueError("steps: values of at that grow, and rates that fall")
        return self


class ApprenticeBudgets(RequestModel):
    """Most US dollars that a task may cost by day, week and month, in UTC; one at least.

    The organisation's own budget holds besides.

    Attributes:
        when_exhausted: whether a version of the small model that has graduated then answers
            unchecked, or nobody. Where no version has graduated, nobody does.
        training_monthly: most that training may cost in a month; none is trained for money
            without it.
    """

    daily: UsdAmount | None = None
    weekly: UsdAmount | None = None
    monthly: UsdAmount | None = None
    when_exhausted: Literal["local", "fail"] = "local"
    training_monthly: UsdAmount | None = None

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        if self.daily is None and self.weekly is None and self.monthly is None:
            raise ValueError("one at least of daily, weekly and monthly")
        return self


class PutApprenticeTaskRequest(RequestModel):
    """All of a task's configuration.

    ``inputSchema`` and ``outputSchema`` are JSON Schemas of objects. ``promptTemplate`` is the
    question: ``{{name}}`` stands for the input's property ``name``, and each property has a place.
    """

    description: Description
    input_schema: _Schema
    output_schema: _Schema
    system_prompt: _Prompt
    prompt_template: _Prompt
    remote: RemoteModels
    local: LocalModel
    evaluator: Evaluator
    thresholds: Thresholds
    confidence: Annotated[Confidence, Field(default_factory=Confidence)]
    sampling: Sampling
    budgets: ApprenticeBudgets
    training: Training | None = None

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        require_trainable(self.training, self.local)
        asked = _properties(self.input_schema, "inputSchema")
        answered = _properties(self.output_schema, "outputSchema")
        unplaceable = sorted(name for name in asked if VARIABLE_NAME.fullmatch(name) is None)
        if unplaceable:
            raise ValueError(
                "inputSchema: properties named by up to 64 letters, digits and _, with no digit "
                f"first, as they have places in prompts, not {unplaceable[0][:100]!r}"
            )
        if set(names_in(self.prompt_template)) != asked:
            raise ValueError(
                "promptTemplate: a place {{name}} for each property of inputSchema, and no other: "
                + ", ".join(sorted(asked))[:500]
            )
        unknown = sorted(set(names_in(self.system_prompt)) - asked)
        if unknown:
            raise ValueError(
                f"systemPrompt: {{{{{unknown[0]}}}}} is no property of inputSchema: "
                + ", ".join(sorted(asked))[:500]
            )
        if isinstance(self.evaluator, StructuredMatch):
            _require_among(self.evaluator.match_fields, answered, "evaluator.matchFields", "output")
        if self.training is not None:
            _require_among(self.training.split_by, asked, "training.splitBy", "input")
        return self


def _properties(schema: dict[str, Any], field: str) -> set[str]:
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict) or not properties:
        raise ValueError(f"{field}: a schema of type object, with properties")
    if len(properties) > limits.MAX_APPRENTICE_PROPERTIES:
        raise ValueError(f"{field}: at most {limits.MAX_APPRENTICE_PROPERTIES} properties")
    return set(properties)


def _require_among(names: list[str], known: set[str], field: str, of: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{field}: each name once")
    if not set(names) <= known:
        raise ValueError(f"{field}: properties of {of}Schema: {', '.join(sorted(known))[:500]}")


class ApprenticeTask(ResponseModel):
    """A task as its present configuration has it.

    Attributes:
        version: of the configuration: 1 and up.
        definition_hash: of prompts, schemas, evaluator and teacher. Where it changes, evidence
            begins anew.
        spend: what its present day, week and month have used of its budgets.
    """

    id: str
    name: str
    version: int
    definition_hash: str
    configuration: PutApprenticeTaskRequest
    spend: ApprenticeSpend | None = None
    created_at: Timestamp
    created_by: str
    updated_at: Timestamp


class ApprenticeTaskResponse(ResponseModel):
    """One task."""

    task: ApprenticeTask


class ApprenticeTaskSummary(ResponseModel):
    """A task in a list, without its prompts and schemas."""

    id: str
    name: str
    description: str
    version: int
    definition_hash: str
    created_at: Timestamp
    updated_at: Timestamp


class ApprenticeTaskList(ResponseModel):
    """A page of tasks, by name."""

    tasks: list[ApprenticeTaskSummary]
    next_token: str | None = None


class ApprenticeConfiguration(ResponseModel):
    """One version of a task's configuration, which never changes."""

    version: int
    definition_hash: str
    configuration: PutApprenticeTaskRequest
    created_at: Timestamp
    created_by: str


class ApprenticeConfigurationResponse(ResponseModel):
    """One version of a configuration."""

    configuration: ApprenticeConfiguration


class ApprenticeConfigurationList(ResponseModel):
    """A page of a task's configurations, newest first."""

    configurations: list[ApprenticeConfiguration]
    next_token: str | None = None
