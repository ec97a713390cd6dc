"""Completions of a run that end ``failed`` without a grader's answer."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from autotune.protocol.completions import ReasonCode
from autotune_platform.completions.service import CompletionService
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import CompletionHeader, overdue


@part
class Endings:
    """Writes the verdicts of what is out of time, or cannot be asked about."""

    completions: CompletionService
    writer: VerdictWriter

    def fail(
        self,
        progress: ChunkProgress,
        completion_ids: Sequence[str],
        reason_code: ReasonCode,
        *,
        attempts: int | None = None,
    ) -> None:
        """End completions for one reason.

        Args:
            attempts: passes that it took; this one is counted unless they are given.
        """
        if not completion_ids:
            return
        failure = _ended(progress, reason_code)
        headers = self.completions.headers(completion_ids)
        self.writer.write(
            progress,
            headers,
            dict.fromkeys(headers, failure),
            attempts=progress.attempt + 1 if attempts is None else attempts,
        )

    def fail_late(
        self,
        progress: ChunkProgress,
        headers: Mapping[str, CompletionHeader],
        attempts: Mapping[str, int],
    ) -> None:
        """End what was waited for until its deadline, each after its own number of passes."""
        failure = _ended(progress, "deadline_exceeded")
        for id_, made in attempts.items():
            self.writer.write(progress, headers, {id_: failure}, attempts=made)

    def fail_without_text(
        self, progress: ChunkProgress, completion_ids: Sequence[str], *, now: datetime
    ) -> None:
        """End what has no text: it expired, or is gone although nobody deleted it."""
        headers = self.completions.headers(completion_ids)
        expired = overdue(headers.values(), now)
        self.fail(progress, expired, "deadline_exceeded", attempts=progress.attempt)
        lost = [id_ for id_ in headers if id_ not in expired]
        self.fail(progress, lost, "platform_error")

    def without_late(
        self, left: ChunkProgress, headers: Mapping[str, CompletionHeader], *, now: datetime
    ) -> ChunkProgress:
        """End what would sleep beyond its deadline; return the run without it."""
        if not left.sleep_seconds:
            return left
        awake_at = now + timedelta(seconds=left.sleep_seconds)
        late = overdue((headers[id_] for id_ in left.unfinished_ids if id_ in headers), awake_at)
        self.fail(left, late, "deadline_exceeded", attempts=left.attempt)
        return left.without(late)


def _ended(progress: ChunkProgress, reason_code: ReasonCode) -> Judgement:
    """Return how a run ends a completion: out of time, it says what it failed with before."""
    if reason_code != "deadline_exceeded":
        return Judgement(reason_code=reason_code)
    return Judgement(
        reason_code=reason_code, last_reason_code=progress.reason_code, run_id=progress.run_id
    )
