"""``client.completions``: responses of models, submitted to be scored."""

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
)
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Unpack

from autotune.client.arguments import Timeout, not_given
from autotune.client.binding import AsyncResource, Method, OwnMethod, Resource
from autotune.client.calls import Call, CallOptions, call, nothing, returning
from autotune.client.errors import AutotuneError, InvalidInputError
from autotune.client.exchange import Plan
from autotune.client.rescoring import rescore_completions
from autotune.client.submissions import (
    DEFAULT_BATCH_SIZE,
    BatchPacker,
    PackedBatch,
    SubmittedBatch,
    pack,
    submission_key,
    submit_batch,
    submit_completion,
)
from autotune.client.waiting import polling
from autotune.protocol.completions import (
    Completion,
    CompletionResponse,
    CompletionVerdict,
    NewCompletion,
    Priority,
    VerdictResponse,
)
from autotune.protocol.explanations import CompletionExplanation
from autotune.protocol.timelines import CompletionTimeline

DEFAULT_CONCURRENCY = 4

_completion = returning(CompletionResponse, lambda answer: answer.completion)
_explained = returning(CompletionExplanation)
_timeline = returning(CompletionTimeline)
_verdict = returning(VerdictResponse, lambda answer: answer.verdict)


def get_completion(completion_id: str, **options: Unpack[CallOptions]) -> Call[Completion]:
    """Read a completion.

    Raises:
        NotFoundError: there is no such completion in this organisation, or its text was deleted or
            has expired.
    """
    return call("GET", "completions", completion_id, read=_completion, **options)


def delete_completion(completion_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a completion's text; its verdict stays, or is ``canceled`` if it had none.

    Raises:
        NotFoundError: there is no such completion in this organisation.
    """
    return call("DELETE", "completions", completion_id, read=nothing, **options)


def cancel_completion(
    completion_id: str, **options: Unpack[CallOptions]
) -> Call[CompletionVerdict]:
    """Cancel a completion unless it has a verdict, which then stands; return where it stands.

    Raises:
        NotFoundError: there is no such completion in this organisation.
    """
    return call(
        "POST", "completions", completion_id, "cancel", read=_verdict, is_idempotent=True, **options
    )


def get_verdict(
    completion_id: str,
    *,
    wait: int = 0,
    generation: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[CompletionVerdict]:
    """Read where a completion stands.

    Args:
        wait: seconds that the server may hold the request while the verdict is pending, 0 to 20.
        generation: an earlier one, whose verdict stays: 0 is the first; the latest by default.

    Raises:
        NotFoundError: there is no such completion in this organisation, or it has no such
            generation.
    """
    asked = None if generation is None else {"generation": str(generation)}
    return call(
        "GET",
        "completions",
        completion_id,
        "score",
        read=_verdict,
        query=asked,
        wait=wait,
        **options,
    )


def explain_completion(
    completion_id: str, **options: Unpack[CallOptions]
) -> Call[CompletionExplanation]:
    """Read why a completion stands where it does: who is asked, what failed, what comes next.

    ``autotune.protocol.reasons.REASONS`` says what its reason codes mean.

    Raises:
        NotFoundError: there is no such completion in this organisation.
    """
    return call("GET", "completions", completion_id, "explanation", read=_explained, **options)


def get_timeline(completion_id: str, **options: Unpack[CallOptions]) -> Call[CompletionTimeline]:
    """Read what happened to a completion, oldest first, and what it waits for.

    Raises:
        NotFoundError: there is no such completion in this organisation.
    """
    return call("GET", "completions", completion_id, "timeline", read=_timeline, **options)


def wait_for_score(
    completion_id: str,
    *,
    timeout: float | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[CompletionVerdict]:
    """Wait until a completion has its verdict, which may be another than a score.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.

    Raises:
        WaitTimeoutError: the verdict was still pending after ``timeout``.
        NotFoundError: there is no such completion in this organisation.
    """
    return polling(
        lambda hold: get_verdict(completion_id, wait=hold, extra_headers=extra_headers),
        pending=lambda verdict: verdict.state == "pending",
        timeout=timeout,
        what=completion_id,
    )


class CompletionMethods:
    """Methods of completions."""

    submit = Method(submit_completion)
    get = Method(get_completion)
    delete = Method(delete_completion)
    cancel = Method(cancel_completion)
    rescore = Method(rescore_completions)
    verdict = Method(get_verdict)
    explain = Method(explain_completion)
    timeline = Method(get_timeline)
    wait_for_score = Method(wait_for_score)


class Completions(CompletionMethods, Resource):
    """Completions, blocking."""

    @OwnMethod
    def submit_many(
        self,
        completions: Iterable[NewCompletion | Mapping[str, Any]],
        *,
        priority: Priority = "normal",
        batch_size: int = DEFAULT_BATCH_SIZE,
        concurrency: int = DEFAULT_CONCURRENCY,
        idempotency_key: str | None = None,
        timeout: Timeout = not_given,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Iterator[SubmittedBatch]:
        """Submit any number of completions, read lazily, in batches; yield each batch in order.

        Nothing happens until the result is iterated over. At most ``concurrency`` requests are in
        flight, and no more completions are held than they carry.

        Args:
            completions: ``NewCompletion``s, or mappings with their fields.
            batch_size: most completions in a request, 1 to 500; a request also stays below 3 MB
                unless one completion alone is larger.
            idempotency_key: names the whole submission, 1 to 140 visible ASCII characters; the
                same completions in the same order with the same key and ``batch_size`` add nothing
                the second time. A fresh one is made where none is given.
            timeout: seconds for each attempt of each request; the client's own unless given.
            extra_headers: go with each request.

        Raises:
            InvalidInputError: a completion is out of its range; the batches before it are yielded
                first, and nothing of its own batch is sent.
            APIError: a batch was refused; a note says which completions it held.
        """
        key = submission_key(idempotency_key)
        options = CallOptions(timeout=timeout, extra_headers=extra_headers)
        batches = pack(completions, BatchPacker(batch_size=batch_size, priority=priority))
        window: deque[Future[SubmittedBatch]] = deque()
        with ThreadPoolExecutor(concurrency, thread_name_prefix="autotune-submit") as executor:
            try:
                for batch in batches:
                    window.append(executor.submit(self._submit, batch, key, options))
                    if len(window) == concurrency:
                        yield window.popleft().result()
            except InvalidInputError:
                while window:
                    yield window.popleft().result()
                raise
            while window:
                yield window.popleft().result()

    def _submit(self, batch: PackedBatch, key: str, options: CallOptions) -> SubmittedBatch:
        with _named(batch):
            return self.carry_out(submit_batch(batch, submission_key=key, **options))


class AsyncCompletions(CompletionMethods, AsyncResource):
    """Completions, for an event loop."""

    @OwnMethod
    async def submit_many(
        self,
        completions: Iterable[NewCompletion | Mapping[str, Any]]
        | AsyncIterable[NewCompletion | Mapping[str, Any]],
        *,
        priority: Priority = "normal",
        batch_size: int = DEFAULT_BATCH_SIZE,
        concurrency: int = DEFAULT_CONCURRENCY,
        idempotency_key: str | None = None,
        timeout: Timeout = not_given,  # noqa: ASYNC109 - of each attempt
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[SubmittedBatch, None]:
        """Submit as ``AutotuneClient.completions.submit_many`` does, from any kind of iterable."""
        key = submission_key(idempotency_key)
        options = CallOptions(timeout=timeout, extra_headers=extra_headers)
        packer = BatchPacker(batch_size=batch_size, priority=priority)
        window: deque[asyncio.Task[SubmittedBatch]] = deque()
        try:
            async for batch in _batches(completions, packer):
                window.append(asyncio.create_task(self._submit(batch, key, options)))
                if len(window) >= concurrency:
                    yield await window.popleft()
        except InvalidInputError:
            while window:
                yield await window.popleft()
            raise
        else:
            while window:
                yield await window.popleft()
        finally:
            for task in window:
                task.cancel()
            await asyncio.gather(*window, return_exceptions=True)

    async def _submit(self, batch: PackedBatch, key: str, options: CallOptions) -> SubmittedBatch:
        with _named(batch):
            return await self.carry_out(submit_batch(batch, submission_key=key, **options))


async def _batches(
    completions: Iterable[NewCompletion | Mapping[str, Any]]
    | AsyncIterable[NewCompletion | Mapping[str, Any]],
    packer: BatchPacker,
) -> AsyncIterator[PackedBatch]:
    if not isinstance(completions, AsyncIterable):
        for batch in pack(completions, packer):
            yield batch
        return
    async for completion in completions:
        closed = packer.take(completion)
        if closed is not None:
            yield closed
    last = packer.close()
    if last is not None:
        yield last


@contextmanager
def _named(batch: PackedBatch) -> Iterator[None]:
    """Note on an error which completions were in the request."""
    try:
        yield
    except AutotuneError as error:
        last = batch.offset + batch.count - 1
        error.add_note(f"in the batch of completions[{batch.offset}] to completions[{last}]")
        raise
