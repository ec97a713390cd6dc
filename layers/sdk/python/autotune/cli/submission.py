"""Submits a stream of completions and watches their batches until nothing is pending."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import aclosing, suppress
from datetime import UTC, datetime

from autotune.cli.progress import SubmissionProgress
from autotune.client import AsyncAutotuneClient, SubmittedBatch, SummaryReport, VerdictSummary
from autotune.protocol.completions import (
    BatchResponse,
    CompletionVerdict,
    NewCompletion,
    Priority,
)
from autotune.protocol.rescoring import LASTING_REASONS

_WATCHERS = 4
# Short enough for the progress to move while a batch is being scored.
_HOLD_SECONDS = 5
_GAP_SECONDS = 0.2
_REMIND_EVERY_SECONDS = 30.0
_LAST_LOOK_SECONDS = 5.0


class Submission:
    """A submission under way, and what is known of it so far.

    Args:
        retries_failed: whether what failed for a reason that may pass is scored once more.

    Attributes:
        submitted: completions that the server has accepted, now or before.
        replayed: those that it had accepted before.
        is_submitted: whether everything was sent and accepted.
        batch_ids: in the order of the file.
        summary: of the verdicts so far.
    """

    def __init__(self, progress: SubmissionProgress, *, retries_failed: bool = False) -> None:
        # What failed is not added up before it is tried once more.
        self._retries_failed = retries_failed
        self._retried: set[str] = set()
        self.submitted = 0
        self.replayed = 0
        self.is_submitted = False
        self.batch_ids: list[str] = []
        self._warned: set[str] = set()
        self.summary = VerdictSummary()
        self._progress = progress
        self._unfinished: asyncio.Queue[str] = asyncio.Queue()
        # Of unfinished batches: which verdicts the summary has.
        self._added_by_batch: dict[str, set[str]] = {}
        self._changed_at = time.monotonic()
        # What a grader that fails failed with last, by batch and grader.
        self._failing: dict[tuple[str, str], CompletionVerdict] = {}

    @property
    def pending(self) -> int:
        """How many of those that were accepted have no verdict that is known here."""
        return self.submitted - self.summary.completions

    def report(self) -> SummaryReport:
        """Return the figures so far, over everything that was accepted."""
        known = self.summary.report()
        counts = {**known.counts, "pending": self.pending}
        return known.model_copy(update={"completions": self.submitted, "counts": counts})

    async def run(
        self,
        client: AsyncAutotuneClient,
        completions: Iterable[NewCompletion],
        *,
        priority: Priority,
        batch_size: int,
        idempotency_key: str,
        wait: bool,
        timeout_seconds: float | None = None,
    ) -> None:
        """Submit everything and, with ``wait``, stay until each completion has its verdict.

        Verdicts are collected while later batches are still being submitted.

        Args:
            timeout_seconds: how long to stay once everything is submitted; None is for ever. What
                has no verdict then is counted by ``pending``.

        Raises:
            AutotuneError: as ``submit_many`` and ``batches.get``; what was accepted stays so.
        """

        async def submit_and_settle() -> None:
            stream = client.completions.submit_many(
                completions,
                priority=priority,
                batch_size=batch_size,
                idempotency_key=idempotency_key,
            )
            async with aclosing(stream) as batches:
                async for batch in batches:
                    self._accept(batch, watch=wait)
            self.is_submitted = True
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_seconds):
                    await self._unfinished.join()

        main = asyncio.create_task(submit_and_settle())
        tasks = [main]
        if wait:
            tasks += [asyncio.create_task(self._watch(client)) for _ in range(_WATCHERS)]
            tasks.append(asyncio.create_task(self._remind()))
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._look_once_more(client)

    def _show(self) -> None:
        self._progress.show(submitted=self.submitted, decided=self.summary.completions)

    def _accept(self, batch: SubmittedBatch, *, watch: bool) -> None:
        count = len(batch.completion_ids)
        self.submitted += count
        self.replayed += count if batch.replayed else 0
        self.batch_ids.append(batch.batch_id)
        for warning in batch.warnings:
            if warning.grader_id not in self._warned:
                self._warned.add(warning.grader_id)
                self._progress.print_line(f"grader {warning.grader_id}: {warning.detail}")
        if watch:
            self._added_by_batch[batch.batch_id] = set()
            self._unfinished.put_nowait(batch.batch_id)
        self._changed_at = time.monotonic()
        self._show()

    async def _watch(self, client: AsyncAutotuneClient) -> None:
        while True:
            batch_id = await self._unfinished.get()
            batch = await client.batches.get(batch_id, wait=_HOLD_SECONDS)
            again = await self._retry(client, batch)
            if not again:
                self._add_verdicts(batch_id, batch)
            if again or batch.counts.pending:
                # To the end of the queue, so that a slow batch does not hide those behind it.
                self._unfinished.put_nowait(batch_id)
                await asyncio.sleep(_GAP_SECONDS)
            self._unfinished.task_done()
            self._show()

    async def _retry(self, client: AsyncAutotuneClient, batch: BatchResponse) -> bool:
        """Have what failed in a batch scored once more; return whether anything is."""
        if not self._retries_failed or batch.batch_id in self._retried or batch.counts.pending:
            return False
        self._retried.add(batch.batch_id)
        failed = [one.completion_id for one in batch.verdicts if _may_pass(one)]
        if not failed:
            return False
        # The next attempt of the same command may retry what failed again.
        key = f"autotune-retry-failed.{batch.batch_id}.{batch.generation}"
        done = await client.completions.rescore(failed, states=["failed"], idempotency_key=key)
        if done.rescored:
            self._progress.print_line(f"{done.rescored} failed and are scored again")
        return done.rescored > 0

    def _is_open(self, verdict: CompletionVerdict, batch_id: str) -> bool:
        is_retried = self._retries_failed and batch_id not in self._retried
        return verdict.state == "pending" or (is_retried and _may_pass(verdict))

    def _add_verdicts(self, batch_id: str, batch: BatchResponse) -> None:
        added = self._added_by_batch[batch_id]
        self._explain(batch)
        for verdict in batch.verdicts:
            if not self._is_open(verdict, batch_id) and verdict.completion_id not in added:
                self.summary.add(verdict)
                added.add(verdict.completion_id)
                self._changed_at = time.monotonic()
        if not batch.counts.pending:
            del self._added_by_batch[batch_id]

    def _explain(self, batch: BatchResponse) -> None:
        """Say once for all batches why a grader fails, and when it is tried again."""
        pending = {one.grader_id: one for one in batch.verdicts if one.state == "pending"}
        for grader_id in {one.grader_id for one in batch.verdicts}:
            key, now = (batch.batch_id, grader_id), pending.get(grader_id)
            if now is None:
                self._failing.pop(key, None)
            elif now.reason_code is not None:
                if now.reason_code not in self._reasons_of(grader_id):
                    self._progress.print_line(_failure(now))
                self._failing[key] = now

    def _reasons_of(self, grader_id: str) -> set[str | None]:
        return {one.reason_code for one in self._failing.values() if one.grader_id == grader_id}

    async def _look_once_more(self, client: AsyncAutotuneClient) -> None:
        """Read what is unfinished without being held, so that the counts are not of before."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_LOOK_SECONDS):
                for batch_id in list(self._added_by_batch):
                    self._retried.add(batch_id)
                    self._add_verdicts(batch_id, await client.batches.get(batch_id))

    async def _remind(self) -> None:
        """Say that nothing new has come for a while, so that silence explains itself."""
        reminded_at = self._changed_at
        while True:
            due_at = max(self._changed_at, reminded_at) + _REMIND_EVERY_SECONDS
            await asyncio.sleep(due_at - time.monotonic())
            now = time.monotonic()
            if now < max(self._changed_at, reminded_at) + _REMIND_EVERY_SECONDS:
                continue
            reminded_at = now
            if self.pending:
                silent = now - self._changed_at
                line = f"still {self.pending} pending; nothing new for {silent:.0f} s"
                self._progress.print_line(line)
                latest = {one.grader_id: one for one in self._failing.values()}
                for verdict in latest.values():
                    self._progress.print_line(_failure(verdict))


def _may_pass(verdict: CompletionVerdict) -> bool:
    return verdict.state == "failed" and verdict.reason_code not in LASTING_REASONS


def _failure(verdict: CompletionVerdict) -> str:
    """Return what a grader's last attempt failed with, and what happens next."""
    line = f"{verdict.grader_id} failed in attempt {verdict.attempts} ({verdict.reason_code})"
    if not verdict.attempts:
        line = f"{verdict.grader_id} is down, as calls before found ({verdict.reason_code})"
    if verdict.next_attempt_at is None:
        return f"{line}; it is tried again"
    seconds = max(0, round((verdict.next_attempt_at - datetime.now(UTC)).total_seconds()))
    return f"{line}; the next attempt is in {seconds} s, and so on until the task's deadline"
