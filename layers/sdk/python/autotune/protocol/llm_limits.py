"""Limits and timings of a connection's batch jobs on the wire."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.types import RequestModel, ResponseModel, at_most

ModelName = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=limits.MAX_LLM_MODEL_CHARACTERS, pattern=r"^[!-~]+$"
    ),
]

JobLimitName = Literal["enqueuedTokens", "enqueuedRows", "openJobs", "creationsPerHour"]
"""A limit that a batch waits for."""

_Tokens = Annotated[
    int, Field(ge=limits.MIN_LLM_ENQUEUED_TOKENS, le=limits.MAX_LLM_ENQUEUED_TOKENS, strict=True)
]


class ConnectionLimits(RequestModel):
    """What the provider's jobs of a connection may be together; others wait.

    A connection may have less than its provider allows, and more only where the provider allows
    more by tier.

    Attributes:
        enqueued_tokens: most tokens of input in jobs that have not ended, by model; a model that is
            not named has no such limit. Each byte of a text counts as a token, and each message as
            128 more: that is never too few.
        enqueued_rows: most rows in jobs that have not ended.
        open_jobs: most jobs that have not ended; one has once its results are stored and its files
            at the provider deleted.
        creations_per_hour: most jobs that are asked for within an hour.
    """

    enqueued_tokens: (
        Annotated[
            dict[ModelName, _Tokens],
            at_most(limits.MAX_LLM_PRICED_MODELS),
            Field(max_length=limits.MAX_LLM_PRICED_MODELS),
        ]
        | None
    ) = None
    enqueued_rows: (
        Annotated[int, Field(ge=1, le=limits.MAX_LLM_ENQUEUED_ROWS, strict=True)] | None
    ) = None
    open_jobs: Annotated[int, Field(ge=1, le=limits.MAX_LLM_OPEN_JOBS, strict=True)] | None = None
    creations_per_hour: (
        Annotated[int, Field(ge=1, le=limits.MAX_LLM_CREATIONS_PER_HOUR, strict=True)] | None
    ) = None


class ConnectionTimings(RequestModel):
    """How long is waited for what of a provider's job, in seconds.

    Attributes:
        poll_least_seconds: a job is looked at after a tenth of its age, but not sooner; 60 without.
        poll_most_seconds: nor later; 1,800 without.
        visibility_seconds: a job that is in no list of the provider by then was not created, and is
            created again; 900 without. Where the provider shows jobs later than that, they are
            created twice.
        patience_seconds: a job that cannot be seen for so long, and is old enough to be given up,
            is given up; 900 without.
        lost_after_seconds: how old that is; 259,200 without.
        results_within_seconds: for how long results are waited for after a job has ended; 3,600
            without.
        overdue_seconds: a job that has not ended so long after its time is asked to end; 3,600
            without.
        put_off_seconds: for how long rows are left alone whose job was more than the provider took
            at the time; 600 without.
    """

    poll_least_seconds: Annotated[int, Field(ge=10, le=3_600, strict=True)] | None = None
    poll_most_seconds: Annotated[int, Field(ge=60, le=3_600, strict=True)] | None = None
    visibility_seconds: Annotated[int, Field(ge=300, le=2_700, strict=True)] | None = None
    patience_seconds: Annotated[int, Field(ge=60, le=86_400, strict=True)] | None = None
    lost_after_seconds: Annotated[int, Field(ge=86_400, le=2_592_000, strict=True)] | None = None
    results_within_seconds: Annotated[int, Field(ge=60, le=86_400, strict=True)] | None = None
    overdue_seconds: Annotated[int, Field(ge=0, le=604_800, strict=True)] | None = None
    put_off_seconds: Annotated[int, Field(ge=60, le=86_400, strict=True)] | None = None


class LimitsInForce(ResponseModel):
    """Limits that hold; None where there is none."""

    enqueued_tokens: dict[str, int] = {}
    enqueued_rows: int | None = None
    open_jobs: int | None = None
    creations_per_hour: int | None = None


class TimingsInForce(ResponseModel):
    """Timings that hold, in seconds."""

    poll_least_seconds: int = 60
    poll_most_seconds: int = 1_800
    visibility_seconds: int = 900
    patience_seconds: int = 900
    lost_after_seconds: int = 259_200
    results_within_seconds: int = 3_600
    overdue_seconds: int = 3_600
    put_off_seconds: int = 600
