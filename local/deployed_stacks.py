"""Has MiniStack answer to who deploys a stack once it is deployed, which takes it a second.

CloudFormation answers at once, and so does MiniStack. Then the CDK looks whether the stack is
there, and if not, waits for five seconds until it looks again: most of the time that it takes to
bring up the local stack.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from typing import Any

from ministack.services import cloudformation
from ministack.services.cloudformation import changesets, handlers

LONGEST_SECONDS = 10.0
"""After which it answers all the same."""

_begun: ContextVar[list[asyncio.Event] | None] = ContextVar("begun", default=None)

Begin = Callable[..., None]
Handle = Callable[..., Awaitable[tuple[Any, ...]]]


def install() -> None:
    """Change the MiniStack of this process."""
    for module in (changesets, handlers):
        module._create_stack_task_in_region = noting_end(  # noqa: SLF001 - it has no setting
            module._create_stack_task_in_region  # noqa: SLF001
        )
    cloudformation.handle_request = answering_at_end(cloudformation.handle_request)


def noting_end(begin: Begin) -> Begin:
    """Have whoever begins to deploy a stack know when that has ended."""

    @wraps(begin)
    def begin_noting_end(deploy: Coroutine[Any, Any, None], *stack: Any) -> None:
        ended = asyncio.Event()

        async def deploy_and_note() -> None:
            try:
                await deploy
            finally:
                ended.set()

        begun = _begun.get()
        if begun is not None:
            begun.append(ended)
        begin(deploy_and_note(), *stack)

    return begin_noting_end


def answering_at_end(handle: Handle, *, at_most: float = LONGEST_SECONDS) -> Handle:
    """Have a request answered once the deployments that it began have ended."""

    @wraps(handle)
    async def handle_to_the_end(*request: Any) -> tuple[Any, ...]:
        begun: list[asyncio.Event] = []
        token = _begun.set(begun)
        try:
            answer = await handle(*request)
        finally:
            _begun.reset(token)
        if begun:
            ends = [asyncio.ensure_future(one.wait()) for one in begun]
            _, late = await asyncio.wait(ends, timeout=at_most)
            for one in late:
                one.cancel()
        return answer

    return handle_to_the_end
