"""Who is draining a webhook, as pure state: nothing here reads a clock or a table.

Wake-ups come from publishers, retries and the sweep, and any of them may come twice. One function
at a time drains a webhook. A wake-up that comes meanwhile sets a mark, and the one that drains
looks again. A function that dies holds its webhook until its time is over, and no longer.
"""

from typing import Self

from autotune_platform.runtime.frozen_model import FrozenModel

LONGEST_DELAY_SECONDS = 900
"""The longest that SQS holds a message back."""

CALL_SECONDS = 10
"""How long a message may take from publisher to deliverer before another one is sent."""

DRAIN_KEPT_SECONDS = 86_400
"""How long the state of a drain is kept after its last change."""


class Drain(FrozenModel):
    """Who drains a webhook until when, and the wake-up that is on its way; Unix seconds."""

    holder: str = ""
    until: float = 0
    woken: bool = False
    wake_at: float = 0
    called_at: float = 0

    def called(self, now: float) -> tuple[Self, bool]:
        """Return the state of a webhook that has something new, and whether to send a message.

        None has to be sent where somebody drains, who looks again, or where one was sent a moment
        ago and has not arrived: it will find what is new, too.
        """
        if self.holder and self.until > now:
            return self.model_copy(update={"woken": True}), False
        if now < self.called_at + CALL_SECONDS:
            return self, False
        return self.model_copy(update={"called_at": now}), True

    def taken(self, holder: str, now: float, *, seconds: float) -> tuple[Self, bool]:
        """Return the state with a new holder and True, or with a mark set for the present one."""
        if self.holder and self.until > now:
            return self.model_copy(update={"woken": True}), False
        taken = {"holder": holder, "until": now + seconds, "woken": False, "called_at": 0.0}
        return self.model_copy(update=taken), True

    def released(
        self, holder: str, now: float, *, next_due: float | None
    ) -> tuple[Self, float | None]:
        """Return the state without its holder, and when to wake the webhook again.

        None means that nobody need be woken: nothing is due, or a wake-up is on its way that is
        early enough. Else each publisher's wake-up would go on for as long as anything is pending.

        Args:
            next_due: when the next delivery is due, None if there is none.
        """
        if self.holder != holder:  # it took too long, and somebody else has taken over
            return self, None
        free = self.model_copy(update={"holder": "", "until": 0, "woken": False})
        due = now if self.woken else next_due
        if due is None:
            return free, None
        wake_at = min(max(due, now), now + LONGEST_DELAY_SECONDS)
        if now < self.wake_at <= wake_at:
            return free, None
        return free.model_copy(update={"wake_at": wake_at}), wake_at


def drain_key(webhook_id: str) -> tuple[str, str]:
    """Return the key of a webhook's drain in the table of deliveries."""
    return webhook_id, "drain"
