"""Leases on a grader's concurrency as pure state: nothing here reads a clock or a table.

A round takes one slot for each call that it makes at the same time, and releases its slots when it
ends. A round that dies releases nothing. Its slots are free once its lease expires, and no call of
a round outlives its lease. So the calls under way never exceed the slots taken.
"""

from typing import Self

from autotune_platform.runtime.frozen_model import FrozenModel

_SHARE_OF_THE_LAST = 0.2


class Lease(FrozenModel):
    """Slots that one round holds until a Unix second, and since when."""

    slots: int
    until: float
    since: float = 0


class Leases(FrozenModel):
    """The leases on a grader's slots, by round.

    Attributes:
        mean_seconds: for how long rounds held theirs of late; 0 if none ended yet.
    """

    held: dict[str, Lease] = {}
    mean_seconds: float = 0

    def taken(
        self, round_id: str, now: float, *, wanted: int, limit: int, seconds: float
    ) -> tuple[Self, int]:
        """Return the leases after a round took up to ``wanted`` slots, and how many it got.

        A round that is there already wrote them and did not learn of it: it takes them again.
        """
        held = {
            id_: lease for id_, lease in self.held.items() if lease.until > now and id_ != round_id
        }
        free = limit - sum(lease.slots for lease in held.values())
        slots = max(min(wanted, free), 0)
        if slots:
            held[round_id] = Lease(slots=slots, until=now + seconds, since=round(now, 1))
        return self.model_copy(update={"held": held}), slots

    def released(self, round_id: str, now: float) -> Self:
        """Return the leases without that of a round."""
        held = dict(self.held)
        lease = held.pop(round_id, None)
        if lease is None:
            return self
        last = round(max(now - lease.since, 0), 1)
        mean = self.mean_seconds + _SHARE_OF_THE_LAST * (last - self.mean_seconds)
        mean = round(mean, 1) if self.mean_seconds else last
        return self.model_copy(update={"held": held, "mean_seconds": mean})
