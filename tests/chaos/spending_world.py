"""How much is spent in ``spending``, on what and to whom, and what loses answers of DynamoDB."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from local.proxy import Connection, LoopbackProxy, Message
from tests.chaos.teacher import MODEL, Teacher
from tests.providers.answers import Ask, Reply, Usage
from tests.support.apprentice import configuration as usual

OUTPUT_TOKENS = 60
LOST_SHARE, LOST_RESERVATIONS = 0.03, 0.1
TRIES = 5
"""How often a client of DynamoDB tries a transaction by itself."""
TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class Size:
    """How much there is of everything, where so many calls are sent.

    Attributes:
        cheap: calls that cost less, which are sent afterwards.
        of_task: calls that the limit of the task admits, half a one over; ``of_all``, that of the
            organisation.
        turns_after: calls on the bill, when midnight passes.
    """

    calls: int

    @property
    def cheap(self) -> int:
        return self.calls * 3 // 5

    @property
    def of_task(self) -> int:
        return self.calls // 5

    @property
    def of_all(self) -> int:
        return self.calls * 8 // 25

    @property
    def turns_after(self) -> int:
        return self.calls * 7 // 50


class Left(NamedTuple):
    """What has not ended: runs, and how many calls."""

    runs: Sequence[str]
    calls: int


class LosingProxy(LoopbackProxy):
    """Passes requests on to MiniStack, and loses answers to transactions that were done."""

    def __init__(self, upstream: Callable[[], int | None], *, seed: int) -> None:
        super().__init__(upstream)
        self._draw = random.Random(seed)
        self._left: dict[str, int] = {}
        self.is_on = False
        self.lost = 0

    async def answer(self, request: Message, behind: Connection) -> Message:
        """Pass a request on; of some no answer comes back, and the connection ends.

        What a reservation is answered is lost as often as its client tries by itself: so the
        reservation is what asks again.
        """
        answer = await self.pass_on(request, behind)
        is_done = request.operation == "TransactWriteItems" and " 200 " in answer.start
        if not (self.is_on and is_done):
            return answer
        if not self._loses(json.loads(request.body).get("ClientRequestToken")):
            return answer
        self.lost += 1
        raise ConnectionResetError

    def _loses(self, token: str | None) -> bool:
        """Return whether an answer is lost; ``token`` is a reservation's, the same at each try."""
        if token is None:
            return self._draw.random() < LOST_SHARE
        if token not in self._left:
            self._left[token] = TRIES if self._draw.random() < LOST_RESERVATIONS else 0
        self._left[token] -= 1
        return self._left[token] >= 0


class Payee:
    """The paid model, whose calls cost a share of the most that they can.

    Attributes:
        most_input: tokens that an input is charged as, at a share of one; None for what it has.
    """

    def __init__(self, teacher: Teacher) -> None:
        self.teacher = teacher
        self.share = 1.0
        self.most_input: int | None = None
        self._answered = teacher.fake.world.answers.answerer
        teacher.fake.world.answers.answerer = self._answer

    def _answer(self, ask: Ask) -> Reply:
        assert self._answered is not None
        reply = self._answered(ask)
        assert isinstance(reply, Reply)
        if self.most_input is None:
            return reply
        tokens = (round(one * self.share) for one in (self.most_input, OUTPUT_TOKENS))
        return replace(reply, usage=Usage(*tokens))


def configuration(connection_id: str) -> dict[str, Any]:
    """Return a task's configuration, in which a call that failed is tried once more."""
    primary = {
        "connectionId": connection_id,
        "model": MODEL,
        "maxOutputTokens": OUTPUT_TOKENS,
        "timeoutS": TIMEOUT_SECONDS,
        "maxRetries": 1,
    }
    return usual(connection_id, remote={"primary": primary})
