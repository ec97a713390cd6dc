"""What a run carries from step to step."""

import math
import random
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Self

from autotune.protocol.completions import ReasonCode
from autotune.protocol.retry import RetryPolicy
from autotune_platform.judging.judge import Asker

ROUNDS_OF_AN_EXECUTION = 300
"""Rounds after which a run goes on in another execution: a history has 25,000 events at most.

A round with a wait for a signal has 13, and 4,000 retries may have three each.
"""

MAX_ATTEMPTS = 8
"""Passes after which a run waits ever longer for its grader, and a text may be given up alone."""

_BACK_OFF = RetryPolicy(first_seconds=2, longest_seconds=300)
# A run looks again after an eighth of the time for which its grader has been down.
_LOOKS_OF_A_WAIT = 8
_SHORTEST_LOOK_SECONDS = 256
_LONGEST_LOOK_SECONDS = 6 * 3_600
_SHORTEST_PARKED_SECONDS = 3 * _SHORTEST_LOOK_SECONDS // 4
# Many runs wait for one permit, and request it less often the longer they wait.
_PERMIT_JITTER = RetryPolicy(first_seconds=2, longest_seconds=60)


class ChunkProgress(Asker):
    """What a run carries from step to step: ids and counts, never text.

    A pass asks the grader once about each completion that has no verdict; it may take several
    rounds, because a round ends with the function's time.

    Attributes:
        completion_ids: due in this pass.
        delayed_ids: failed in this pass for a reason that may pass; due in the next one.
        delay_seconds: the longest time that the grader asked us to wait in this pass.
        attempt: passes that are over.
        waits: rounds in a row that asked nobody, because the grader's limits or circuit forbade it.
        remaining: how many completions are due now or later.
        sleep_seconds: how long to wait before the next round.
        waiting_ids: wait for a signal: a callback or a person's answer.
        waiting: how many those are; the state machine counts no lists.
        people: how many of those wait for a person.
        wait_seconds: until the first of them is due.
        rounds: rounds that are over.
        suspect_attempts: passes in which texts failed while the grader answered others; as often
            are packs halved, until a text is alone.
        suspect_since: when the first of them ended, in Unix seconds; 0 if there was none.
        is_suspect: whether this pass is one, by now; so is ``others_passed``.
        looked_at: when the last pass ended, in Unix seconds; 0 before.
        failing_since: since when nothing of the run was judged, in Unix seconds; 0 if it was.
        reason_code: why the last completion failed that is to be tried again.
        turn_at: when the turn begins that the run reserved at its grader, in Unix seconds; 0 if it
            has none.
        is_down: whether the grader's circuit forbids calls, and the run sleeps for that.
        is_history_full: whether the run is to go on in another execution.
        is_parked: whether it sleeps for long because its grader is down, and can be woken before.
        was_parked: whether it was, and its grader has answered nothing since.
        wakes_others: whether the round showed that runs parked for the grader may go on.
    """

    completion_ids: list[str]
    delayed_ids: list[str] = []
    delay_seconds: int = 0
    attempt: int = 0
    waits: int = 0
    remaining: int
    sleep_seconds: int = 0
    waiting_ids: list[str] = []
    waiting: int = 0
    people: int = 0
    wait_seconds: int = 0
    rounds: int = 0
    suspect_attempts: int = 0
    suspect_since: int = 0
    is_suspect: bool = False
    others_passed: bool = False
    looked_at: int = 0
    failing_since: int = 0
    reason_code: ReasonCode | None = None
    turn_at: float = 0
    is_down: bool = False
    is_history_full: bool = False
    is_parked: bool = False
    was_parked: bool = False
    wakes_others: bool = False

    def after_round(
        self,
        *,
        untried: list[str],
        failed: Mapping[str, int],
        now: datetime,
        wait_seconds: float = 0,
        asked: bool = True,
        is_down: bool = False,
        is_suspect: bool = False,
        others_pass: bool = True,
        has_judged: bool = False,
        is_back: bool = False,
        is_well: bool = False,
        reason_code: ReasonCode | None = None,
        seconds_left: float = math.inf,
        turn_at: float | None = None,
    ) -> Self:
        """Return the run after a round.

        Args:
            now: when the round ends.
            untried: completions for which there was no time, or no permit to call the grader.
            failed: what may be tried again, with the seconds that the grader asked us to wait.
            wait_seconds: until there may be a permit; waiting for it is no attempt.
            asked: whether the grader was called at all.
            is_down: whether the circuit forbids calls.
            is_suspect: whether a text may be the cause of a failure.
            others_pass: whether the grader answered others since the pass before.
            has_judged: whether anything of the run was judged.
            is_back: whether a probe of this round closed the circuit.
            is_well: whether the grader answered in this round, or nothing was left to ask it.
            reason_code: why completions failed, or the grader is down.
            seconds_left: until the first deadline, or the first signal that is due.
            turn_at: when the turn begins that was reserved for what is untried, in Unix seconds.
        """
        at = int(now.timestamp())
        since = (0 if has_judged else self.failing_since) or (at if failed or is_down else 0)
        elapsed = at - since
        look = _look_seconds(elapsed, seconds_left)
        delayed = [*self.delayed_ids, *failed]
        delay = max(self.delay_seconds, *failed.values(), 0)
        remaining = len(untried) + len(delayed)
        waits = self.waits + 1 if wait_seconds and not asked else 0
        wait = 0
        if turn_at and remaining:
            # A turn is an appointment: nobody else comes at the same time.
            wait = max(1, int(turn_at - now.timestamp()))
        elif wait_seconds and remaining:
            wait = math.ceil(wait_seconds + _PERMIT_JITTER.pause(waits + 1))
            if is_down and elapsed > _LOOKS_OF_A_WAIT * _SHORTEST_LOOK_SECONDS:
                wait = max(wait, look)
            # A circuit may be closed before it is due: somebody else may find its grader well.
            if (2 if is_down else wait_seconds + 2) < seconds_left <= wait:
                wait = int(seconds_left) - 1  # one look more before the deadline
        changes: dict[str, Any] = {"remaining": remaining, "sleep_seconds": wait, "waits": waits}
        changes["is_down"] = bool(is_down and waits)
        changes["turn_at"] = (turn_at or 0) if remaining else 0
        changes |= {"failing_since": since, "reason_code": reason_code or self.reason_code}
        is_suspect, others = self.is_suspect or is_suspect, self.others_passed or others_pass
        if untried:
            changes |= {"completion_ids": untried, "delayed_ids": delayed, "delay_seconds": delay}
            changes |= {"is_suspect": is_suspect, "others_passed": others}
        else:
            changes |= {"completion_ids": delayed, "delayed_ids": [], "delay_seconds": 0}
            changes |= {"is_suspect": False, "others_passed": False, "looked_at": at}
            if is_suspect and others:
                changes |= {
                    "suspect_attempts": self.suspect_attempts + 1,
                    "suspect_since": self.suspect_since or at,
                }
            if delayed:
                attempt = self.attempt + 1
                back_off = look if attempt >= MAX_ATTEMPTS else math.ceil(_BACK_OFF.pause(attempt))
                changes |= {
                    "attempt": attempt,
                    "sleep_seconds": max(delay, wait, back_off, 1),
                }
            elif has_judged and not is_down:
                changes["reason_code"] = None
        # Who is woken must not come before the time that the grader asked for.
        sleeps_long = changes["sleep_seconds"] >= _SHORTEST_PARKED_SECONDS and not delay
        is_parked = is_down and remaining > 0 and not turn_at and sleeps_long
        changes["is_parked"] = is_parked
        changes["was_parked"] = is_parked or (self.was_parked and not is_well)
        changes["wakes_others"] = is_back or (self.was_parked and is_well)
        return self.model_copy(update=changes)

    @property
    def unfinished_ids(self) -> list[str]:
        """Completions that are due in this pass or the next."""
        return [*self.completion_ids, *self.delayed_ids]

    @property
    def due_ids(self) -> list[str]:
        """Completions that a round looks after: due in this pass, or waiting until now."""
        return list(dict.fromkeys([*self.completion_ids, *self.waiting_ids]))

    @property
    def open_ids(self) -> list[str]:
        """Completions that the run is not through with: due now or later, or waiting."""
        return list(dict.fromkeys([*self.completion_ids, *self.delayed_ids, *self.waiting_ids]))

    def waiting_for(self, until: Mapping[str, datetime], now: datetime) -> Self:
        """Return the run after a round that left completions waiting for callbacks.

        Args:
            until: when each of them is due; they alone wait then.
        """
        return self.model_copy(
            update={
                "waiting_ids": list(until),
                "waiting": len(until),
                "people": 0,
                "wait_seconds": _seconds_until_first(until, now),
            }
        )

    def also_waiting_for_people(self, until: Mapping[str, datetime], now: datetime) -> Self:
        """Return the run with further completions that wait, each for a person.

        Args:
            until: when each of them is due.
        """
        if not until:
            return self
        waiting_ids = list(dict.fromkeys([*self.waiting_ids, *until]))
        seconds = _seconds_until_first(until, now)
        return self.model_copy(
            update={
                "waiting_ids": waiting_ids,
                "waiting": len(waiting_ids),
                "people": len(until),
                "wait_seconds": min(seconds, self.wait_seconds or seconds),
            }
        )

    def without(self, completion_ids: Collection[str]) -> Self:
        """Return the run without completions that were decided in the meantime."""
        due = [id_ for id_ in self.completion_ids if id_ not in completion_ids]
        delayed = [id_ for id_ in self.delayed_ids if id_ not in completion_ids]
        return self.model_copy(
            update={
                "completion_ids": due,
                "delayed_ids": delayed,
                "remaining": len(due) + len(delayed),
            }
        )

    def finished(self) -> Self:
        """Return the same run with nothing left to do."""
        left = self.without(self.open_ids)
        nothing = {"waiting_ids": [], "waiting": 0, "people": 0, "wait_seconds": 0}
        return left.model_copy(update={**nothing, "delay_seconds": 0, "sleep_seconds": 0})


def _look_seconds(elapsed: float, seconds_left: float) -> int:
    """Return when to look again at a grader that has been down for so long, in seconds.

    It is an eighth of that time, give or take a quarter, so that runs do not come together; and
    at most half of the time that is left, so that a deadline is not slept through.
    """
    part = min(max(elapsed / _LOOKS_OF_A_WAIT, _SHORTEST_LOOK_SECONDS), _LONGEST_LOOK_SECONDS)
    spread = part * random.uniform(0.75, 1.25)  # noqa: S311 - jitter
    return math.ceil(min(spread, max(seconds_left / 2, _SHORTEST_LOOK_SECONDS / 4)))


def _seconds_until_first(until: Mapping[str, datetime], now: datetime) -> int:
    """Return the seconds, at least 1, until the first of some moments; 0 where there is none."""
    if not until:
        return 0
    return max(1, math.ceil((min(until.values()) - now).total_seconds()))
