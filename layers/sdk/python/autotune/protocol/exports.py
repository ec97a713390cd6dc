"""Exports on the wire: scores as training data, written in parts and described by a manifest."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from autotune.protocol.limits import (
    MAX_EXPORT_PAIRS,
    MAX_EXPORT_SEED,
    MAX_STEP_SEPARATOR_CHARACTERS,
)
from autotune.protocol.llm_filters import LlmRequestFilter
from autotune.protocol.llm_requests import LlmStatus
from autotune.protocol.problems import LimitProblem
from autotune.protocol.scores import ScoreFilters
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp, UnitInterval

ExportFormat = Literal["jsonl", "parquet", "tfrecord"]
"""``jsonl`` is gzipped; Parquet and TFRecord have the same columns, nested ones as JSON text."""

ExportShape = Literal["scores", "preference", "unpaired", "stepwise", "llm_requests"]
"""What a record is: a scored response, a pair, a labelled response, one with labelled steps, or a
request to a language model.

Pairs and labelled responses have the columns of TRL's dataset types
(https://huggingface.co/docs/trl/dataset_formats).
"""

ExportState = Literal["pending", "running", "completed", "failed", "canceled"]
"""``canceled`` is what somebody deleted: it stopped where it ran, and its files are gone."""

ExportErrorCode = Literal["too_large", "platform_error"]
"""``too_large``: more than an export may have, as its ``limit`` says; narrower filters help."""

Pairing = Literal["best_worst", "all_pairs"]
"""One pair a prompt, of its best and its worst response; or each two of its responses."""

SkipReason = Literal[
    "unpaired", "low_confidence", "over_limit", "steps_mismatched", "pair_text_gone"
]
"""Why a scored completion with its text is in no record.

``unpaired``: it has no partner that differs enough, or its pairs are not among the sample;
``low_confidence``: below ``minConfidence``; ``over_limit``: its prompt has more completions than
are paired; ``steps_mismatched``: as many step labels as steps are needed. ``pair_text_gone`` alone
counts pairs: one of their texts was deleted, or has expired, since they were made.
"""

Delta = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, strict=True)]


class PreferenceOptions(RequestModel):
    """How pairs are made of the scored responses to one prompt.

    Only responses to the same prompt of the same task are paired, scored by the same version of the
    same grader; equal scores and identical responses never are.

    Attributes:
        min_score_delta: least difference of a pair's scores; any above 0 without it.
        sample_size: most pairs, drawn uniformly by ``seed`` from all; all of them without it.
        seed: the same data and seed make the same pairs in the same order.
        min_confidence: least confidence of both sides.
    """

    min_score_delta: Delta | None = None
    sample_size: Annotated[int, Field(ge=1, le=MAX_EXPORT_PAIRS, strict=True)] | None = None
    seed: Annotated[int, Field(ge=0, le=MAX_EXPORT_SEED, strict=True)] = 0
    pairing: Pairing = "best_worst"
    min_confidence: UnitInterval = 0.0


class UnpairedOptions(RequestModel):
    """``label`` is whether the score is at least ``threshold``."""

    threshold: UnitInterval = 0.5


class StepwiseOptions(RequestModel):
    """Steps are the response split at ``separator``, empty ones left out.

    Their labels are whether the dimensions ``step_1`` to ``step_n`` are at least ``threshold``.
    """

    threshold: UnitInterval = 0.5
    separator: Annotated[
        str, StringConstraints(min_length=1, max_length=MAX_STEP_SEPARATOR_CHARACTERS)
    ] = "\n"


LlmRequestsLayout = Literal["records", "openai"]
"""``openai``: lines as in the output file of OpenAI's batch API, with ``custom_id`` (the request's
id where it has none), ``response`` and ``error``."""


class LlmRequestsOptions(LlmRequestFilter):
    """Which requests to language models are exported, of those that have ended.

    Attributes:
        status: one that is for good.
        layout: ``openai`` goes with the format ``jsonl`` alone.
    """

    layout: LlmRequestsLayout = "records"

    @field_validator("status")
    @classmethod
    def _for_good(cls, value: LlmStatus | None) -> LlmStatus | None:
        if value in {"queued", "submitted"}:
            raise ValueError("expected completed, error or canceled: only these are exported")
        return value


class CreateExportRequest(RequestModel):
    """Body of ``POST /api/v1/exports``; options go with the shape of their name alone.

    Those of the requested shape that are left out have their defaults.
    """

    format: ExportFormat
    shape: ExportShape = "scores"
    filters: ScoreFilters = Field(default_factory=ScoreFilters)
    preference: PreferenceOptions | None = None
    unpaired: UnpairedOptions | None = None
    stepwise: StepwiseOptions | None = None
    llm_requests: LlmRequestsOptions | None = None

    @field_validator("preference", "unpaired", "stepwise", "llm_requests")
    @classmethod
    def _of_the_shape(cls, value: Any, info: ValidationInfo) -> Any:
        shape = info.data.get("shape")
        if value is not None and shape not in {None, info.field_name}:
            raise ValueError(f"{info.field_name} goes with shape {info.field_name}, not {shape}")
        return value

    @model_validator(mode="after")
    def _what_requests_admit(self) -> Self:
        if self.shape != "llm_requests":
            return self
        if self.format == "tfrecord":
            raise ValueError("format: shape llm_requests is written as jsonl or parquet")
        if self.filters != ScoreFilters():
            raise ValueError("filters: they are of scores; llmRequests has those of requests")
        options = self.llm_requests
        if options is not None and options.layout == "openai" and self.format != "jsonl":
            raise ValueError("llmRequests.layout: openai goes with format jsonl")
        return self

    @model_validator(mode="after")
    def _with_defaults(self) -> Self:
        defaults = {
            "preference": PreferenceOptions,
            "unpaired": UnpairedOptions,
            "stepwise": StepwiseOptions,
            "llm_requests": LlmRequestsOptions,
        }
        if self.shape in defaults and getattr(self, self.shape) is None:
            object.__setattr__(self, self.shape, defaults[self.shape]())  # it is frozen
        return self


class ExportRequest(CreateExportRequest):
    """What was asked for, as an export and its manifest show it, with defaults filled in."""

    model_config = ConfigDict(extra="ignore")


class ExportProgress(ResponseModel):
    """How far an export has come.

    ``scanned`` counts the verdicts that were looked at; for the shape ``preference`` no record is
    written before all of them are.
    """

    records_written: int
    scanned: int
    parts: int


class ExportedFile(ResponseModel):
    """A file to download: ``url`` needs no signature and holds 15 minutes."""

    name: str
    url: str
    sha256: str
    bytes: int


class ExportedPart(ExportedFile):
    """A part with its number of records."""

    records: int


class ExportDownloads(ResponseModel):
    """All files of a completed export, parts in order."""

    manifest: ExportedFile
    parts: list[ExportedPart]


class Export(ResponseModel):
    """An export of the verdicts that were decided before ``as_of``.

    ``error_code`` is there only when ``state`` is ``failed``, and ``limit`` when that is
    ``too_large``. From ``expires_at`` on there is
    no export any more, nor a link to its files.
    """

    id: str
    state: ExportState
    request: ExportRequest
    progress: ExportProgress
    error_code: ExportErrorCode | None = None
    limit: LimitProblem | None = None
    as_of: Timestamp
    created_at: Timestamp
    completed_at: Timestamp | None = None
    expires_at: Timestamp


class ExportDetails(Export):
    """An export, and its files once it is completed."""

    downloads: ExportDownloads | None = None


class ExportResponse(ResponseModel):
    """One export."""

    export: ExportDetails


class ExportList(ResponseModel):
    """A page of exports, oldest first."""

    exports: list[Export]
    next_token: str | None = None


class Percentiles(ResponseModel):
    """Nearest-rank percentiles, exact to 0.0001."""

    p25: float
    p50: float
    p75: float
    p95: float


class ScoreDistribution(ResponseModel):
    """Of all scores in the records, both of a pair; ``std`` is that of the whole population."""

    mean: float
    std: float
    min: float
    max: float
    percentiles: Percentiles


def _is_zero(count: int) -> bool:
    return not count


_Counted = Annotated[int, Field(exclude_if=_is_zero)]


class ExportCounts(ResponseModel):
    """What became of the verdicts that matched; ``scanned`` is the sum of the six after it.

    Of requests to language models these are ``completed``, ``error`` and ``canceled``.

    ``text_gone`` and ``skipped`` are of ``scored``: no record holds them, the former because prompt
    and response were deleted or have expired.
    """

    scanned: int = 0
    scored: int = 0
    abstained: int = 0
    failed: int = 0
    canceled: int = 0
    completed: _Counted = 0
    error: _Counted = 0
    text_gone: int = 0
    skipped: dict[SkipReason, int] = {}


class ManifestPart(ResponseModel):
    """A part, as the manifest names it: file name, digest in hexadecimal, and sizes."""

    name: str
    sha256: str
    bytes: int
    records: int


class ExportManifest(ResponseModel):
    """``manifest.json`` of an export: what its records are and where they come from.

    ``task_ids`` and ``model_ids`` are those of the records, at most 1,000 of each;
    ``ids_truncated`` where there are more. ``score_distribution`` is absent where there are no
    records.
    """

    schema_version: Literal[1] = 1
    export_id: str
    exported_at: Timestamp
    as_of: Timestamp
    request: ExportRequest
    task_ids: list[str]
    model_ids: list[str]
    ids_truncated: bool = False
    total_records: int
    score_distribution: ScoreDistribution | None = None
    counts: ExportCounts
    parts: list[ManifestPart]
