"""The judges in a thread, and plain HTTP to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from tests.judges.models import PLANTED_MODEL, serve_planted, serve_sick
from tests.judges.planted import Planted
from tests.judges.writing import judge_messages
from tests.providers.server import serve
from tests.providers.state import World

BEARER = {"authorization": "Bearer fake-key"}


@dataclass(frozen=True)
class Asked:
    """A fake and who answers for it."""

    http: httpx.Client
    world: World
    model: object

    def chat(self, messages, model=PLANTED_MODEL, **fields):
        body = {"model": model, "messages": messages, "max_tokens": 2_000, **fields}
        return self.http.post("/served/v1/chat/completions", headers=BEARER, json=body)

    def judge(self, rubric, sample, model=PLANTED_MODEL, **fields):
        """The text of a judge's answer, behind its token."""
        answer = self.chat(judge_messages(rubric, sample), model, **fields)
        answer.raise_for_status()
        return answer.json()["choices"][0]["message"]["content"].partition("] ")[2]

    def control(self, method, path, document=None):
        return self.http.request(method, f"/_fake{path}", json=document)


@contextmanager
def asked(make) -> Iterator[Asked]:
    """A fake of one judge; afterwards it must have had no fault."""
    with serve(World(seed=5)) as fake:
        model = make(fake.world)
        with httpx.Client(base_url=fake.base_url, timeout=10, verify=False) as http:
            yield Asked(http, fake.world, model)
        assert fake.world.bugs == []


@pytest.fixture
def planted():
    with asked(serve_planted) as made:
        yield made


@pytest.fixture
def sick():
    """A judge without noise, so that a marker in a sample changes nothing but what it says."""
    with asked(lambda world: serve_sick(world, Planted(noise=0))) as made:
        yield made
