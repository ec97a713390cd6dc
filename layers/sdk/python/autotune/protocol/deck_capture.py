"""Capture on the wire: which chat completions become samples of decks."""

from typing import Annotated

from pydantic import Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.types import RequestModel, ResponseModel, Text, Timestamp, at_most

_Pattern = Annotated[
    Text, StringConstraints(min_length=1, max_length=limits.MAX_PATTERN_CHARACTERS)
]
_MetadataName = Annotated[
    Text, StringConstraints(min_length=1, max_length=limits.MAX_LLM_LABEL_CHARACTERS)
]


class SetDeckCaptureRequest(RequestModel):
    """All settings of an organisation's capture; what is left out is as at first.

    Attributes:
        enabled: whether calls are captured.
        sampling_rate: share of them, 0 to 1, drawn by a keyed hash of the call's id.
        retention_days: when samples that were captured go; without it, they stay until they are
            deleted. Texts of calls whose token has ``retentionDays`` go no later than these say.
        redactions: regular expressions of RE2; what they find in any text is replaced by
            ``[redacted]`` before anything is stored with decks.
        metadata_names: labels and metadata of calls that samples keep; no others are.
        group_by: one of these, whose value is the group key of a sample: calls with the same value,
            such as one customer's, are in one half of their deck.
    """

    enabled: bool
    sampling_rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1
    retention_days: (
        Annotated[int, Field(ge=limits.MIN_RETENTION_DAYS, le=limits.MAX_RETENTION_DAYS)] | None
    ) = None
    redactions: Annotated[list[_Pattern], at_most(limits.MAX_CAPTURE_REDACTIONS)] = []
    metadata_names: Annotated[list[_MetadataName], at_most(limits.MAX_CAPTURE_METADATA_NAMES)] = []
    group_by: _MetadataName | None = None


class DeckCapture(ResponseModel):
    """Settings of an organisation's capture; ``updated_at`` is None where it never had any."""

    enabled: bool = False
    sampling_rate: float = 1
    retention_days: int | None = None
    redactions: list[str] = []
    metadata_names: list[str] = []
    group_by: str | None = None
    updated_at: Timestamp | None = None


class DeckCaptureResponse(ResponseModel):
    """Settings of an organisation's capture."""

    capture: DeckCapture
