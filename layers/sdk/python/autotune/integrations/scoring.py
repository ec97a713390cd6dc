"""Rollouts go in, verdicts and rewards come out, in order: for threads and for event loops."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from pydantic import ValidationError

from autotune.client import (
    AsyncAutotuneClient,
    AutotuneClient,
    InvalidInputError,
    SubmittedBatch,
    WaitTimeoutError,
)
from autotune.integrations.rollouts import Rollout
from autotune.integrations.settings import ScoringSettings
from autotune.integrations.unscored import UnscoredCounter, reward_of
from autotune.protocol.completions import BatchResponse, CompletionVerdict, NewCompletion

WINDOW_SECONDS = 0.02
"""How long the first of a list waits for others; little beside any grader's answer."""


@dataclass
class _Gathering:
    """One list while it is open; ``verdicts`` are of its completions, in order."""

    loop: asyncio.AbstractEventLoop
    completions: list[NewCompletion]
    verdicts: asyncio.Task[list[CompletionVerdict]]


class Gatherer:
    """Turns many questions at a time into few.

    Args:
        score: returns the verdicts of a list of completions, in order.
        most: longest list.
    """

    def __init__(
        self,
        score: Callable[[Sequence[NewCompletion]], Awaitable[list[CompletionVerdict]]],
        *,
        most: int,
    ) -> None:
        self._score = score
        self._most = most
        self._open: _Gathering | None = None

    async def ask(self, completion: NewCompletion) -> CompletionVerdict:
        """Return the verdict of one completion, asked for together with others.

        Raises:
            Exception: whatever ``score`` raised for the list that the completion was in.
        """
        loop = asyncio.get_running_loop()
        gathering = self._open
        if gathering is None or gathering.loop is not loop:
            completions: list[NewCompletion] = []
            verdicts_soon = loop.create_task(self._score_soon(completions))
            gathering = self._open = _Gathering(loop, completions, verdicts_soon)
        place = len(gathering.completions)
        gathering.completions.append(completion)
        if len(gathering.completions) == self._most:
            self._open = None
        # One who gives up waiting takes nothing from the others.
        verdicts = await asyncio.shield(gathering.verdicts)
        return verdicts[place]

    async def _score_soon(self, completions: list[NewCompletion]) -> list[CompletionVerdict]:
        await asyncio.sleep(WINDOW_SECONDS)
        if self._open is not None and self._open.completions is completions:
            self._open = None
        return await self._score(completions)


class _AnyScorer:
    """What scorers of both kinds have: their settings, and a count of what was not scored."""

    def __init__(self, settings: ScoringSettings) -> None:
        self._settings = settings
        self._unscored = UnscoredCounter()

    @property
    def unscored(self) -> dict[str, int]:
        """How many rollouts got no score so far, by reason."""
        return self._unscored.counts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._settings,)

    def _completion(self, rollout: Rollout) -> NewCompletion:
        try:
            return NewCompletion(
                task_id=self._settings.task_id,
                model_id=self._settings.model_id,
                prompt=rollout.prompt,
                response=rollout.response,
                metadata=dict(rollout.metadata),
            )
        except ValidationError as error:
            raise InvalidInputError.of(error, within="rollout") from error


class Scorer(_AnyScorer):
    """Scores rollouts and blocks until the verdicts are there; safe to share between threads.

    Its connections are opened by the first call. It can be pickled, without them.
    """

    def __init__(self, settings: ScoringSettings) -> None:
        super().__init__(settings)
        self._client: AutotuneClient | None = None
        self._lock = threading.Lock()

    def verdicts(self, rollouts: Sequence[Rollout]) -> list[CompletionVerdict]:
        """Submit rollouts and wait for their verdicts.

        What is undecided after ``timeout`` comes back as ``pending``; it stays submitted, and is
        scored for exports all the same.

        Raises:
            InvalidInputError: a rollout is more than the API takes; nothing of its batch was sent.
            AutotuneError: the API refused, or could not be reached.
        """
        deadline = time.monotonic() + self._settings.timeout
        client = self._opened()
        submitted = list(
            client.completions.submit_many(
                [self._completion(rollout) for rollout in rollouts],
                priority=self._settings.priority,
                batch_size=self._settings.batch_size,
                concurrency=self._settings.concurrency,
            )
        )
        verdicts: list[CompletionVerdict] = []
        for batch in submitted:
            left = max(0.0, deadline - time.monotonic())
            try:
                answer = client.batches.wait(batch.batch_id, timeout=left)
            except WaitTimeoutError:
                answer = client.batches.get(batch.batch_id)
            verdicts += _in_order(batch, answer)
        self._unscored.add(verdicts)
        return verdicts

    def rewards(self, rollouts: Sequence[Rollout]) -> list[float | None]:
        """Return a reward from 0 to 1 for each rollout, None for what was not scored.

        Raises:
            InvalidInputError, AutotuneError: as ``verdicts``.
        """
        return [reward_of(verdict) for verdict in self.verdicts(rollouts)]

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _opened(self) -> AutotuneClient:
        with self._lock:
            if self._client is None:
                self._client = AutotuneClient(
                    base_url=self._settings.base_url, api_key=self._settings.api_key
                )
            return self._client


class AsyncScorer(_AnyScorer):
    """Scores rollouts from an event loop; the methods are those of ``Scorer``, as coroutines.

    Each event loop gets connections of its own: some trainers run a new loop for every step.
    """

    def __init__(self, settings: ScoringSettings) -> None:
        super().__init__(settings)
        self._client: AsyncAutotuneClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gatherer = Gatherer(self._score, most=settings.batch_size)

    async def verdicts(self, rollouts: Sequence[Rollout]) -> list[CompletionVerdict]:
        """Submit and wait as ``Scorer.verdicts`` does."""
        return await self._score([self._completion(rollout) for rollout in rollouts])

    async def rewards(self, rollouts: Sequence[Rollout]) -> list[float | None]:
        """Return rewards as ``Scorer.rewards`` does."""
        return [reward_of(verdict) for verdict in await self.verdicts(rollouts)]

    async def verdict(self, rollout: Rollout) -> CompletionVerdict:
        """Return the verdict of one rollout; those asked for at the same time share a batch.

        Raises:
            InvalidInputError: the rollout is more than the API takes; the others are not touched.
            AutotuneError: the API refused, or could not be reached.
        """
        return await self._gatherer.ask(self._completion(rollout))

    async def close(self) -> None:
        """Close the connections of this event loop; a later call opens new ones."""
        if self._client is not None and self._loop is asyncio.get_running_loop():
            client, self._client = self._client, None
            await client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _score(self, completions: Sequence[NewCompletion]) -> list[CompletionVerdict]:
        deadline = time.monotonic() + self._settings.timeout
        client = self._opened()
        submitted = [
            batch
            async for batch in client.completions.submit_many(
                completions,
                priority=self._settings.priority,
                batch_size=self._settings.batch_size,
                concurrency=self._settings.concurrency,
            )
        ]
        verdicts: list[CompletionVerdict] = []
        for batch in submitted:
            left = max(0.0, deadline - time.monotonic())
            try:
                answer = await client.batches.wait(batch.batch_id, timeout=left)
            except WaitTimeoutError:
                answer = await client.batches.get(batch.batch_id)
            verdicts += _in_order(batch, answer)
        self._unscored.add(verdicts)
        return verdicts

    def _opened(self) -> AsyncAutotuneClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # The connections of a loop that has ended cannot be closed any more, and are dropped.
            self._client = AsyncAutotuneClient(
                base_url=self._settings.base_url, api_key=self._settings.api_key
            )
            self._loop = loop
        return self._client


@lru_cache
def shared_scorer(settings: ScoringSettings) -> Scorer:
    """Return the one scorer of a process with these settings, for trainers that keep none."""
    return Scorer(settings)


@lru_cache
def shared_async_scorer(settings: ScoringSettings) -> AsyncScorer:
    """Return the one asynchronous scorer of a process with these settings."""
    return AsyncScorer(settings)


def _in_order(batch: SubmittedBatch, answer: BatchResponse) -> list[CompletionVerdict]:
    decided = {verdict.completion_id: verdict for verdict in answer.verdicts}
    return [decided[completion_id] for completion_id in batch.completion_ids]
