from collections.abc import Callable, Iterator

import pytest

from tests.component.webhooks.conftest import publish
from tests.support.forked_commands import Shell, forking_shell
from tests.support.served_ledger import ServedLedger, serve_ledger
from tests.support.served_platform import ServedPlatform, serve_platform
from tests.support.subscribers import Subscriber, loopback_subscriber


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedPlatform]:
    """The platform's API on loopback."""
    with serve_platform(monkeypatch) as running:
        yield running


@pytest.fixture
def ledger() -> Iterator[ServedLedger]:
    """The API of requests to language models on loopback, which asks no model."""
    with serve_ledger() as running:
        yield running


@pytest.fixture(scope="session")
def shell() -> Iterator[Shell]:
    """A shell that has the command line."""
    with forking_shell() as made:
        yield made


@pytest.fixture
def review(api: ServedPlatform) -> Callable[..., str]:
    """Have a completion reviewed of which a grader said 0.5; return the review's id."""

    def request(prompt: str = "p") -> str:
        task_id = api.new_task(review={"sampledShare": 1})
        api.platform.submit(task_id, {"prompt": prompt, "metadata": {"value": 0.5}})
        api.platform.score()
        listed = api.platform.call("GET", "/api/v1/reviews").json["reviews"]
        (review_id,) = [one["id"] for one in listed if one["taskId"] == task_id]
        return str(review_id)

    return request


@pytest.fixture
def subscriber() -> Iterator[Subscriber]:
    with loopback_subscriber() as made:
        yield made


@pytest.fixture
def happen(api: ServedPlatform, subscriber: Subscriber) -> Callable[..., list[str]]:
    """Let something happen that a subscriber is told of, or refuses to be; return the events."""

    def events(count: int = 1, *, webhook_id: str, refused: bool = False) -> list[str]:
        subscriber.answers(410 if refused else 200)
        happened = publish(api.platform, count)
        api.platform.deliver()
        # One that says that it is gone is told of nothing more.
        path = f"/api/v1/webhooks/{webhook_id}"
        api.platform.call("PATCH", path, {"status": "active"})
        return [event.id for event in happened]

    return events
