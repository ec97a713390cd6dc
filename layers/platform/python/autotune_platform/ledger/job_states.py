"""How far a provider's job is, as its batch stores it."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from autotune_platform.ledger.usage import JobUsage
from autotune_platform.runtime.frozen_model import FrozenModel


class JobEnd(FrozenModel):
    """How a provider's job ended.

    Attributes:
        places: where its results are, for the provider's own part to read.
        succeeded: how many rows it says were answered, where it says so.
        usage: what it says that all rows used.
        cost_nano_usd: what it says that it costs.
        seen_at: when it was first seen to have ended.
    """

    how: Literal["completed", "failed", "expired", "canceled"]
    places: Sequence[str] = ()
    succeeded: int | None = None
    usage: JobUsage | None = None
    cost_nano_usd: int | None = None
    seen_at: datetime


class JobState(FrozenModel):
    """How far a provider's job is.

    Attributes:
        nonce: names its creation, where the provider keeps a name of ours.
        rows: how many are in its input.
        bytes: how long the input is.
        input_file: the provider's name of the uploaded input.
        job_id: the provider's name of the job.
        key_version: of the key that it is known to be seen with, at first the one that created it;
            others may not see it.
        begun_at: just before its creation was asked for.
        visibility_seconds: the connection's at that time.
        candidates: several jobs that may be the one whose creation is unclear.
        taken: the job that its creation was answered with, where it is noted as another batch's.
        tries: how often the present phase failed in a row.
        is_adopted: whether somebody said that the job is the batch's own.
        missed_since: since when each look at it did not see it.
        refused_since: since when each look at it was refused.
        is_cancel_sent: whether the provider was asked to end it.
        sizes: how many bytes each of the results has that were fetched.
        is_too_large: whether some were not, because they are more than rows can answer with.
        source: which of them are being stored.
        offset: from which byte on.
        strange: lines of results that are nobody's, came twice or cannot be read.
        stored: rows whose results are stored.
        lost_steps: how many steps were lost in a row while results were stored.
        at_hand: the line that is read, where steps were lost before.
        suspects: how often a step was killed, by the line that was at hand.
        killers: lines that are not read, because steps were killed at them.
    """

    nonce: str
    rows: int = 0
    bytes: int = 0
    input_file: str | None = None
    job_id: str | None = None
    key_version: int = 0
    begun_at: datetime | None = None
    visibility_seconds: int | None = None
    candidates: Sequence[str] = ()
    taken: str | None = None
    tries: int = 0
    is_adopted: bool = False
    missed_since: datetime | None = None
    refused_since: datetime | None = None
    is_cancel_sent: bool = False
    end: JobEnd | None = None
    sizes: Sequence[int] = ()
    is_too_large: bool = False
    source: int = 0
    offset: int = 0
    strange: int = 0
    stored: int = 0
    lost_steps: int = 0
    at_hand: str | None = None
    suspects: Mapping[str, int] = {}
    killers: int = 0


class JobProgress(FrozenModel):
    """How far a provider's job was at a look, as the provider counts.

    Attributes:
        completed: rows with an answer.
        failed: rows that will have none.
        rows: how many there are.
        at: when it was looked at.
    """

    completed: int
    failed: int
    rows: int
    at: datetime


def new_nonce() -> str:
    """Return a name for a creation: letters and digits, as every provider takes them."""
    return secrets.token_hex(12)
