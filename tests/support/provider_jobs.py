"""Providers' batch jobs, driven step by step against the fake of all providers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.calls import Outcome, Question, Refusal
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.jobs.contract import (
    Body,
    Created,
    Creation,
    Ended,
    Job,
    JobProvider,
    Line,
    NotCreated,
)
from autotune_platform.ledger.jobs.session import Session
from autotune_platform.outbound.connections import connection_pool
from tests.providers.server import FakeServer, serve
from tests.providers.state import Clock, World
from tests.unit.ledger.asking import connection, question

START = 1_795_000_000.0
KEY = "fake-key"


@dataclass
class Driven:
    """One provider's jobs, and the fake that they are sent to."""

    fake: FakeServer
    exchanges: Exchanges
    jobs: JobProvider
    provider: LlmProvider
    path: str
    model: str

    @property
    def world(self) -> World:
        return self.fake.world

    def arm(self, name: str, **fields: Any) -> None:
        self.world.traps.arm(name, **fields)

    def fired(self) -> set[str]:
        return {one.trap for one in self.world.traps.firings}

    def pass_time(self, seconds: float = 120) -> None:
        self.world.clock.advance(seconds)

    def session(self, key: str | None = KEY) -> Session:
        there = connection(self.provider, base_url=f"{self.fake.base_url}{self.path}")
        return Session(there, key, self.exchanges)

    def asked(self, number: int = 0, **params: Any) -> Question:
        return question(self.model, user=f"Question {number}", **params)

    def body(self, *rows: bytes) -> Body:
        framing = self.jobs.framing
        whole = framing.before(self.model) + framing.between.join(rows) + framing.after
        return Body(
            len(whole), lambda: (whole[start : start + 97] for start in range(0, len(whole), 97))
        )

    def rows(self, count: int, **params: Any) -> list[bytes]:
        return [
            self.jobs.row(f"row{number}", self.asked(number, **params)) for number in range(count)
        ]

    def job(self, rows: int, **fields: Any) -> Job:
        begun = datetime.fromtimestamp(self.world.clock.now(), UTC)
        return Job("llb_1", "nonce-1", self.model, rows, begun, **fields)

    def create(self, count: int = 4, **params: Any) -> tuple[Job, Creation]:
        job = self.job(count)
        session, body = self.session(), self.body(*self.rows(count, **params))
        assert self.jobs.upload(session, job, body) == ""
        return job, self.jobs.create(session, job, body)

    def begin(self, count: int = 4, **params: Any) -> Job:
        job, made = self.create(count, **params)
        assert isinstance(made, Created), made
        return replace(job, job_id=made.job_id)

    def ended(self, job: Job) -> Ended:
        found = self.jobs.look(self.session(), job)
        assert isinstance(found, Ended), found
        return found

    def content(self, job: Job, ended: Ended) -> bytes:
        (results,) = ended.results
        return b"".join(self.jobs.fetch(self.session(), job, results))

    def lines(self, job: Job, ended: Ended) -> list[Line | None]:
        content = self.content(job, ended)
        return [self.jobs.line(line, KEY) for line in content.splitlines() if line.strip()]

    def outcomes(self, job: Job, ended: Ended) -> dict[str, Outcome]:
        return {line.custom_id: line.outcome for line in self.lines(job, ended) if line}

    def run(self, count: int = 4, **params: Any) -> tuple[Job, Ended, dict[str, Outcome]]:
        """Create a job, and read its results once it has ended."""
        job = self.begin(count, **params)
        self.pass_time()
        ended = self.ended(job)
        return job, ended, self.outcomes(job, ended)


@contextmanager
def driven(jobs: JobProvider, provider: LlmProvider, path: str, model: str) -> Iterator[Driven]:
    """Provide jobs with a fake of their own, whose clock moves only when it is told to."""
    with (
        serve(World(seed=7, clock=Clock(START))) as fake,
        connection_pool(admit_private=True) as pool,
    ):
        yield Driven(fake, Exchanges(pool), jobs, provider, path, model)
        assert fake.world.bugs == []


def refused(found: object) -> Refusal:
    """Return what is a refusal, and nothing else."""
    assert isinstance(found, Refusal), found
    return found


def not_created(found: object) -> NotCreated:
    """Return what says that no job was created."""
    assert isinstance(found, NotCreated), found
    return found
