"""Files and batches of OpenAI's batch API, as they are stored."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from autotune.protocol.limits import LLM_IMPORT_DAYS
from autotune_platform.storage.registry import Entity

BLOCK_LINES = 100
"""How many lines of a batch are looked at together, and are done once all their rows have ended."""

ENDPOINT = "/v1/chat/completions"

FilePurpose = Literal["batch", "batch_output"]
BatchStatus = Literal["open", "completed", "failed", "expired", "cancelled"]

Settled = tuple[int, int, int, int, int, int, int]
"""Lines that are done: completed, others, expired; tokens of input, cached, output, reasoning."""


LONGEST_SECONDS = LLM_IMPORT_DAYS * 86_400
"""How long a file is there at most."""


class ExpiresAfter(BaseModel):
    """When a file goes, in OpenAI's words: 30 days at most there, of which we keep it 7."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    anchor: Literal["created_at"]
    seconds: Annotated[int, Field(ge=3_600, le=2_592_000)]


class CreateBatch(BaseModel):
    """What ``POST /v1/batches`` takes, in OpenAI's words."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    input_file_id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    endpoint: Literal["/v1/chat/completions"]
    completion_window: Literal["24h"]
    metadata: (
        Annotated[
            dict[
                Annotated[str, StringConstraints(max_length=64)],
                Annotated[str, StringConstraints(max_length=512)],
            ],
            Field(max_length=16),
        ]
        | None
    ) = None
    output_expires_after: ExpiresAfter | None = None


class _Expiring(Entity):
    connection_id: str
    created_at: datetime
    kept_seconds: int = LONGEST_SECONDS

    @property
    def expires_at(self) -> datetime:
        """When it goes, with its content."""
        return self.created_at.replace(microsecond=0) + timedelta(seconds=self.kept_seconds)


class File(_Expiring):
    """A file that was uploaded, or that a batch came to; ``lines`` counts those of an upload."""

    filename: str
    purpose: FilePurpose
    bytes: int
    lines: int = 0


class Batch(_Expiring):
    """A file that is asked: an import, and what became of its rows.

    Attributes:
        lines: of its file; each is one row once it is imported.
        settled: what is known of blocks of lines that are done, by the block's number.
        output_file_id: where answers are to go; it is there once the batch has ended, if any came.
        error_file_id: so for what has no answer.
        output_seconds: how long these two are there.
        output_bytes: how long that file is; 0 where there is none.
        errors: why its file was refused, the first lines.
    """

    import_id: str
    input_file_id: str
    lines: int
    metadata: Mapping[str, str] | None = None
    status: BatchStatus = "open"
    settled: Mapping[str, Settled] = {}
    output_file_id: str
    error_file_id: str
    output_seconds: int = LONGEST_SECONDS
    output_bytes: int = 0
    error_bytes: int = 0
    errors: Sequence[Mapping[str, str | int | None]] = ()
    cancel_requested_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def blocks(self) -> int:
        """How many blocks its lines are."""
        return -(-self.lines // BLOCK_LINES)

    def lines_in(self, block: int) -> range:
        """Return the numbers of a block's lines, from 1."""
        first = block * BLOCK_LINES + 1
        return range(first, min(first + BLOCK_LINES, self.lines + 1))
