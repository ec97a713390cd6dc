"""Tries of a row that are over, and why one has no output."""

from datetime import datetime

from autotune_platform.runtime.frozen_model import FrozenModel


class Fault(FrozenModel):
    """Why a row has no output, or an output no verdict."""

    code: str
    message: str


class Attempt(FrozenModel):
    """One try of a row that is over; without an error it has an output.

    ``key_version`` is of the key it was asked with, where it was asked with one.
    """

    number: int
    batch_id: str | None = None
    key_version: int | None = None
    error: Fault | None = None
    cost_nano_usd: int | None = None
    at: datetime
