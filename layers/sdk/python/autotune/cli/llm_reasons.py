"""Why requests to language models and imports wait or ended, and what to do, in a sentence each."""

from collections.abc import Mapping
from typing import NamedTuple

from autotune.protocol.llm_imports import LlmImportErrorCode
from autotune.protocol.llm_limits import JobLimitName
from autotune.protocol.llm_requests import LlmErrorCode, LlmReaskSkipped, LlmWaitingReason


class Why(NamedTuple):
    """What a code means, and what to do about it."""

    means: str
    do: str


_NOTHING = "nothing: it goes on by itself"
_RETRY = "`autotune llm retry` asks it once more, as a request of its own"

WAITING: Mapping[LlmWaitingReason, Why] = {
    "connection_paused": Why(
        "its connection is paused, and it loses no attempt meanwhile",
        "mend what the connection says; any `autotune llm update-connection` takes it up again",
    ),
    "no_price": Why(
        "its model has no price for calls that are made one by one",
        "give the connection one: `autotune llm update-connection --price MODEL=INPUT,OUTPUT`",
    ),
    "over_budget": Why(
        "it may cost more than a whole period of the budget has",
        "raise the limit with `autotune llm budget`, or cancel it",
    ),
    "budget_exhausted": Why(
        "the budget has no room for it, or for what is before it in its queue",
        "wait for the next period, or raise the limit with `autotune llm budget`",
    ),
    "backing_off": Why("it was tried, or its provider had too much to do", _NOTHING),
    "connection_limit": Why(
        "its connection's jobs are as many, or hold as much, as the connection may have at once",
        "nothing; higher limits of the connection have it go sooner, if the provider takes them",
    ),
    "min_rows": Why(
        "it waits for others to share a batch with, maxWaitSeconds of its connection at most",
        "nothing; a lower --min-rows or --max-wait-seconds of the connection has it go sooner",
    ),
    "being_batched": Why(
        "it is in the next batch, or in one of the next where many wait", _NOTHING
    ),
}

ENDED: Mapping[LlmErrorCode, Why] = {
    "rejected": Why(
        "the provider refused this request", "enqueue it anew with another text or parameters"
    ),
    "content_filtered": Why(
        "the provider's filter refused it", "enqueue it anew with another text"
    ),
    "canceled": Why("it was canceled before it was answered", _RETRY),
    "unsupported_in_batch": Why(
        "no batch job of its connection may hold it",
        "leave the parameter out, or set the connection's batches to unless_urgent or never",
    ),
    "rate_limited": Why("the provider had too much to do, at each of its attempts", _RETRY),
    "provider_error": Why("the provider failed at each of its attempts, and did no work", _RETRY),
    "outcome_unclear": Why(
        "calls broke off after they were sent: they may have been done, and are charged", _RETRY
    ),
    "result_malformed": Why("what came is no answer of its provider", _RETRY),
    "result_missing": Why("its batch job ended without its result, which may be paid", _RETRY),
    "batch_expired": Why("its batch jobs ended before it was asked", _RETRY),
    "account": Why(
        "its connection was revoked, or a key, a bill or a model was refused",
        "mend the connection, or make another; then retry it",
    ),
    "address_refused": Why(
        "the address of its connection leads where nothing may be called",
        "give the connection an address that is public",
    ),
    "expired": Why(
        "it was still waiting at its completeBy",
        "a retry has no completeBy; give later ones more time",
    ),
    "platform_error": Why("its texts were gone, or it is a fault of Autotune's", _RETRY),
}

NOT_REASKED: Mapping[LlmReaskSkipped, Why] = {
    "output_cut": Why("the answer ended at maxTokens", "give it more"),
    "asked_enough": Why("it is the second that came of the first", "change the prompt"),
    "canceled": Why("it or its batch was canceled", "retry it if it is wanted"),
    "expired": Why("its completeBy had passed", "retry it if it is wanted"),
    "connection_revoked": Why("its connection was revoked", "enqueue it with another"),
    "texts_deleted": Why("its texts were deleted", "enqueue it anew"),
    "texts_expire": Why(
        "its texts would be deleted before the next answer is there",
        "enqueue it anew with more retentionDays",
    ),
    "unsupported_in_batch": Why(
        "no batch job of its connection may hold it",
        "leave the parameter out, or set the connection's batches to unless_urgent or never",
    ),
    "model_unpriced": Why("its model had no price any more", "give the connection one"),
}

IMPORT_ENDED: Mapping[LlmImportErrorCode, Why] = {
    "lines_rejected": Why(
        "a line is wrong, and onError is rejectAll: nothing was enqueued",
        "mend the lines and import the file again",
    ),
    "too_many_rejected": Why(
        "more than 100,000 lines are wrong", "look whether the format is the one that was named"
    ),
    "too_many_open_requests": Why(
        "for days there was no room for more requests",
        "import what is left once others have ended",
    ),
    "connection_revoked": Why("its connection was revoked", "import it with another connection"),
    "file_changed": Why("another file was uploaded after the start", "import it again"),
    "file_missing": Why("its file was deleted", "import it again"),
    "platform_error": Why("it is a fault of Autotune's", "import the file again"),
}

LIMITS: Mapping[JobLimitName, str] = {
    "enqueuedTokens": "fewer tokens of input in jobs that have not ended",
    "enqueuedRows": "fewer requests in jobs that have not ended",
    "openJobs": "the end of another job",
    "creationsPerHour": "the next hour, because so many jobs were created in this one",
}
