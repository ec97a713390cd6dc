"""Gemini's jobs, each of some rows at the fake, done step by step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from httpcore import ConnectionPool

from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.jobs.contract import Body, Created, Ended, Line, NotCreated
from autotune_platform.ledger.jobs.gemini import GeminiJobs
from autotune_platform.ledger.jobs.session import Session
from autotune_platform.ledger.providers.gemini import GeminiFormat
from autotune_platform.outbound.connections import connection_pool
from tests.providers.server import FakeServer, serve
from tests.providers.state import Clock, World
from tests.support.provider_jobs import KEY, START, Driven

JOBS = GeminiJobs(GeminiFormat())
MODEL = "gemini-2.5-flash"


class Noted(Exchanges):
    """Exchanges whose requests are noted."""

    def __init__(self, pool: ConnectionPool) -> None:
        super().__init__(pool)
        self.asked: list[tuple[str, str, Any]] = []

    def exchange(self, method: str, url: str, headers: Any, *rest: Any, **options: Any) -> Any:
        self.asked.append((method, url, headers))
        return super().exchange(method, url, headers, *rest, **options)


class Scene:
    """A job of some rows at the fake, whose clock moves only when told."""

    def __init__(
        self, fake: FakeServer, exchanges: Noted, rows: int = 10, nonce: str = "nonce0123456789"
    ) -> None:
        self.there = Driven(fake, exchanges, JOBS, "gemini", "", MODEL)
        self.world = fake.world
        whole = self.there.body(*self.there.rows(rows))
        self.read = 0

        def parts() -> Iterator[bytes]:
            self.read += 1
            yield from whole.parts()

        self.body = Body(whole.length, parts)
        self.job = replace(self.there.job(rows), nonce=nonce)
        self.exchanges = exchanges

    @property
    def session(self) -> Session:
        return self.session_of(KEY)

    def session_of(self, key: str | None) -> Session:
        return self.there.session(key)

    def arm(self, trap: str, **fields: Any) -> None:
        self.there.arm(trap, **fields)

    def upload(self) -> str | Refusal:
        sent = JOBS.upload(self.session, self.job, self.body)
        if isinstance(sent, str):
            self.job = replace(self.job, input_file=sent)
        return sent

    def create(self) -> Any:
        made = JOBS.create(self.session, self.job, self.body)
        if isinstance(made, Created):
            self.job = replace(self.job, job_id=made.job_id)
        return made

    def start(self) -> "Scene":
        assert isinstance(self.upload(), str)
        assert isinstance(self.create(), Created)
        return self

    def look(self, after: float = 0) -> Any:
        self.world.clock.advance(after)
        return JOBS.look(self.session, self.job)

    def ended(self, after: float = 120) -> Ended:
        found = self.look(after)
        assert isinstance(found, Ended), found
        return found

    def fetch(self, ended: Ended) -> bytes:
        parts = (JOBS.fetch(self.session, self.job, one) for one in ended.results)
        return b"".join(some for found in parts for some in found)

    def lines(self, ended: Ended) -> list[Line | None]:
        raws = self.fetch(ended).split(b"\n")
        return [JOBS.line(raw, KEY) for raw in raws if raw.strip()]

    def asked_for(self, operation: str) -> int:
        return self.world.requests[f"gemini.{operation}"]


@contextmanager
def gemini_scenes() -> Iterator[Callable[..., Scene]]:
    """Provide what makes scenes, all at one fake."""
    with serve(World(seed=7, clock=Clock(START))) as fake:
        with connection_pool(admit_private=True) as pool:
            yield partial(Scene, fake, Noted(pool))
        assert fake.world.bugs == []


def ids(lines: list[Line | None]) -> list[str]:
    return [line.custom_id for line in lines if line]


def answers(lines: list[Line | None]) -> list[Answer]:
    return [line.outcome for line in lines if line and isinstance(line.outcome, Answer)]


def refusals(lines: list[Line | None]) -> list[Refusal]:
    return [line.outcome for line in lines if line and isinstance(line.outcome, Refusal)]


def code_of(found: Any) -> str:
    refusal = found.refusal if isinstance(found, NotCreated) else found
    assert isinstance(refusal, Refusal), found
    return refusal.code
