"""What Bedrock says of a batch job and its records: statuses, counts, tokens and failures."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from autotune.protocol.llm_requests import LlmErrorCode
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.contract import Reported, reported
from autotune_platform.ledger.providers.documents import inside, name, text, tokens
from autotune_platform.ledger.usage import JobUsage

End = Literal["completed", "failed", "expired", "canceled"]

ENDS: Final[Mapping[str, End]] = {
    "Completed": "completed",
    # Out of time with some rows not asked: what has no result is tried again, and is not paid.
    "PartiallyCompleted": "expired",
    "Expired": "expired",
    "Stopped": "canceled",
    "Failed": "failed",
}
# A failed job says why in its message alone, and its records are not looked at before it runs.
_FAILURES: Final[Sequence[tuple[LlmErrorCode, Sequence[str]]]] = (
    ("rate_limited", ("token limit", "quota", "too many", "throttl")),
    ("account", ("access denied", "not authorized", "permission", "assume", "bucket")),
    ("provider_error", ("internal",)),
)


def counts(document: Any) -> tuple[int, int] | None:
    """Return how many records were answered, and how many there were; None if that cannot be."""
    succeeded = tokens(inside(document, "successRecordCount"))
    total = tokens(inside(document, "totalRecordCount"))
    return (succeeded, total) if total and succeeded is not None else None


def reported_of(document: Any) -> Reported:
    """Return what a job's document tells beside its status."""
    return reported(
        name(inside(document, "modelId")),
        completed=tokens(inside(document, "successRecordCount")),
        failed=tokens(inside(document, "errorRecordCount")),
        total=tokens(inside(document, "totalRecordCount")),
    )


def usage_of(manifest: Any) -> JobUsage | None:
    """Return what all records used together, as the manifest says."""
    asked = tokens(inside(manifest, "inputTokenCount"))
    answered = tokens(inside(manifest, "outputTokenCount"))
    if asked is None or answered is None:
        return None
    return JobUsage(input_tokens=asked, output_tokens=answered)


def failure(document: Any) -> Refusal:
    """Return why a job failed; what is not known is looked for among its rows."""
    said = text(inside(document, "message")) or "the job failed without a reason"
    for code, fragments in _FAILURES:
        if any(fragment in said.lower() for fragment in fragments):
            return Refusal(code, said)
    return Refusal("rejected", said)
