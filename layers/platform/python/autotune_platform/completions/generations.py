"""Generations of a batch: each time that some of its completions are scored again."""

import json
from datetime import datetime
from typing import Self

from autotune_platform.runtime.frozen_model import FrozenModel

RESCORED = "rescored#"
"""Start of the attributes of a batch that say what was scored again, one for each generation."""


class Generation(FrozenModel):
    """Completions of a batch that are scored again together.

    Attributes:
        number: which of the batch's generations it is, from 1.
        places: which of the batch's completions, in hexadecimal: bit n is the nth of them.
        requested_at: when it was requested.
        deadline_seconds: how long its verdicts may take; None for as long as at first.
        request_id: of the request, which follows from its idempotency key: a repeated request makes
            no second generation of a completion.
        fingerprint: distinguishes a repeated request from another one under the same key.
        sweeps: how often the batch had been swept by then.
    """

    number: int
    places: str
    requested_at: datetime
    deadline_seconds: int | None = None
    request_id: str
    fingerprint: str
    sweeps: int = 0

    @property
    def attribute(self) -> str:
        """The name under which a batch keeps it."""
        return f"{RESCORED}{self.number}"

    @property
    def size(self) -> int:
        """How many completions are in it."""
        return int(self.places, 16).bit_count()

    def has(self, place: int) -> bool:
        """Return whether the completion at an index of the batch is in it."""
        return bool(int(self.places, 16) >> place & 1)

    def packed(self) -> str:
        """Return it as text."""
        return self.model_dump_json(exclude={"number"}, exclude_none=True)

    @classmethod
    def unpacked(cls, attribute: str, text: str) -> Self:
        """Return what was packed."""
        return cls(number=int(attribute.removeprefix(RESCORED)), **json.loads(text))
