"""Gathers what coroutines ask one by one into lists, so that a grader gets batches."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from autotune.protocol.completions import CompletionVerdict, NewCompletion

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
