"""Leases on a grader's concurrency as pure state: nothing here reads a clock or a table.

A round of calls takes as many places as it makes calls at once, and gives them back at its end. A
round that dies gives nothing back; its places are free once its time is over, which no call of it
outlives. So the calls under way never exceed the places taken.
"""

from typing import Self

from autotune_platform.runtime.frozen_model import FrozenModel


class Lease(FrozenModel):
    """Places that one round holds until a Unix second."""

    places: int
    until: float


class Leases(FrozenModel):
    """Who holds places at a grader, by round."""

    held: dict[str, Lease] = {}

    def taken(
        self, round_id: str, now: float, *, wanted: int, limit: int, seconds: float
    ) -> tuple[Self, int]:
        """Return the leases with up to ``wanted`` places more, and how many those are."""
        held = {id_: lease for id_, lease in self.held.items() if lease.until > now}
        free = limit - sum(lease.places for lease in held.values())
        places = max(min(wanted, free), 0)
        if places:
            held[round_id] = Lease(places=places, until=now + seconds)
        return self.model_copy(update={"held": held}), places

    def given_back(self, round_id: str) -> Self:
        """Return the leases without a round's."""
        held = {id_: lease for id_, lease in self.held.items() if id_ != round_id}
        return self.model_copy(update={"held": held})
