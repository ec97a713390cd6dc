from collections.abc import Iterator

import pytest

from autotune import AutotuneClient


@pytest.fixture
def client(api) -> Iterator[AutotuneClient]:
    with AutotuneClient(base_url=api.base_url, api_key=api.api_key) as opened:
        yield opened


@pytest.fixture
def verified(client):
    """Register one more grader that needs no verification, and return its id."""

    def make() -> str:
        like = {"type": "string_check", "reference": "", "operation": "like"}
        return client.graders.register(name="n", builtin=like).grader.id

    return make


@pytest.fixture
def no_waiting(monkeypatch):
    """Let pauses between attempts pass at once, and return how long they would have been."""
    pauses: list[float] = []
    monkeypatch.setattr("autotune.client.clients.time.sleep", pauses.append)
    return pauses
