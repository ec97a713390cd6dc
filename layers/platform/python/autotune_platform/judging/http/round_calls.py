"""The calls of one round to an HTTP grader, and what each came to."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING

from autotune.protocol.completions import ReasonCode
from autotune.protocol.grading import GradedCompletion
from autotune_platform.budgets.permit import Permit, SlotRefusedError
from autotune_platform.completions.models import Completion
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.judging.http.calls import Call
from autotune_platform.judging.http.hedging import Hedging
from autotune_platform.judging.judge import Awaited, Failure, Judged, Round
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.judgements import Judgement

if TYPE_CHECKING:
    from autotune_platform.judging.http.judge import HttpJudge

CALL_TIMEOUT_SECONDS = 30
"""Longest that one call to a grader may take, from connecting to the last byte of its answer."""

# Nothing was read of the text: the grader is busy, or nothing was sent.
_NEVER_OF_A_TEXT = frozenset({"grader_rate_limited", "certificate_mismatch"})


@part
class RoundCalls:
    """The calls of one round, which has a permit; they are made on several threads.

    Attributes:
        late: answers that came second to a hedged question.
        untried: as in ``Remainder``; so are ``failed`` and ``waiting``.
    """

    judge: "HttpJudge"
    round_: Round
    permit: Permit
    hedging: Hedging
    completions: Mapping[str, Completion]
    late: list[Judged] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    failed: dict[str, Failure] = field(default_factory=dict)
    waiting: dict[str, Awaited] = field(default_factory=dict)

    def ask(self, pack: Sequence[GradedCompletion]) -> Judged | None:
        """Ask about one pack; return its judgements, None where there are none now."""
        completion_ids = [completion.id for completion in pack]
        longest_call = CALL_TIMEOUT_SECONDS + 5 + self.permit.longest_pause_seconds
        if self.round_.seconds_left() < longest_call:
            self.untried += completion_ids
            return None
        batch_ids = sorted({self.completions[id_].batch_id for id_ in completion_ids})
        try:
            with self.permit.slot(is_down=_is_down, reason_of=_reason_of):
                judgements, call = self.hedging.call(
                    lambda seconds: self.judge.call(self.round_, pack, batch_ids, seconds),
                    timeout_seconds=CALL_TIMEOUT_SECONDS,
                    late=lambda answer: self.late.append(self._judged(answer[0], is_late=True)),
                )
        except SlotRefusedError:
            self.untried += completion_ids
            return None
        except GraderCallError as error:
            return self._refused(error, completion_ids)
        if call is not None:
            self.waiting |= awaited(call, completion_ids, self.judge.clock.now())
            return None
        return self._judged(judgements)

    def _refused(self, error: GraderCallError, completion_ids: Sequence[str]) -> Judged | None:
        if error.retryable:
            failure = Failure(
                error.reason_code,
                error.retry_after_seconds,
                may_be_text=error.reason_code not in _NEVER_OF_A_TEXT,
            )
            self.failed |= dict.fromkeys(completion_ids, failure)
            return None
        return self._judged(dict.fromkeys(completion_ids, Judgement(reason_code=error.reason_code)))

    def _judged(self, judgements: Mapping[str, Judgement], *, is_late: bool = False) -> Judged:
        return Judged(
            asker=self.round_.asker,
            judgements=judgements,
            attempts=self.round_.attempt,
            share_reasoning=self.round_.grader.share_reasoning,
            is_late=is_late,
        )


def _is_down(error: Exception) -> bool | None:
    if not isinstance(error, GraderCallError):
        return None
    # What is refused as too many or too early shows neither that it is down nor that it answers.
    return None if error.retryable and not error.grader_is_down else error.grader_is_down


def _reason_of(error: Exception) -> ReasonCode | None:
    return error.reason_code if isinstance(error, GraderCallError) else None


def awaited(call: Call, completion_ids: Sequence[str], now: datetime) -> dict[str, Awaited]:
    """Return that completions wait for the answer to a call, and when to look at it."""
    return dict.fromkeys(completion_ids, Awaited(call.looked_at(now), attempts=call.attempts))
