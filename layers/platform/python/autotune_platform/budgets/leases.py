"""Leases on a grader's concurrency as pure state: nothing here reads a clock or a table.

A round takes one slot for each call that it makes at the same time, and releases its slots when it
ends. A round that dies releases nothing. Its slots are free once its lease expires, and no call of
a round outlives its lease. So the calls under way never exceed the slots taken.
"""

from typing import Self

from autotune_platform.runtime.frozen_model import FrozenModel


class Lease(FrozenModel):
    """Slots that one round holds until a Unix second."""

    slots: int
    until: float


class Leases(FrozenModel):
    """The leases on a grader's slots, by round."""

    held: dict[str, Lease] = {}

    def taken(
        self, round_id: str, now: float, *, wanted: int, limit: int, seconds: float
    ) -> tuple[Self, int]:
        """Return the leases after a round took up to ``wanted`` slots, and how many it got."""
        held = {id_: lease for id_, lease in self.held.items() if lease.until > now}
        free = limit - sum(lease.slots for lease in held.values())
        slots = max(min(wanted, free), 0)
        if slots:
            held[round_id] = Lease(slots=slots, until=now + seconds)
        return self.model_copy(update={"held": held}), slots

    def released(self, round_id: str) -> Self:
        """Return the leases without that of a round."""
        held = {id_: lease for id_, lease in self.held.items() if id_ != round_id}
        return self.model_copy(update={"held": held})
