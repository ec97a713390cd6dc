"""What one organisation has shows on no page of another's session.

``tests/e2e/test_console.py`` does the same for each role, on a stack.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser

from tests.support import exports
from tests.support.console import Console
from tests.support.console_decks import filled_decks
from tests.support.ledger import ledger
from tests.support.platform import Platform
from tests.support.reviews import Reviewing
from tools.console_views import reading


@dataclass
class Seen:
    """What an admin sees of their own organisation.

    Attributes:
        views: all that its pages lead to.
        ids: all that the API answered for them.
    """

    api_key: str
    views: list[str]
    ids: set[str]


def test_no_page_shows_what_another_organization_has(console: Console, browser: Browser) -> None:
    platform = console.served.platform
    own_key, other_key = platform.api_key, platform.new_organization("another")
    own, other = (seen_of(console, browser, key) for key in (own_key, other_key))
    # Both have something of everything, and nothing in common.
    assert own.ids & other.ids == set()
    for one in (own, other):
        kinds = {id_.partition("_")[0] for id_ in one.ids}
        assert kinds >= {"whk", "key", "ses", "rwu", "aud", "dck", "smp", "drn"}

    with acting_as(platform, other_key):
        api_key = platform.new_key("admin")
    with reading(browser, console.link(api_key)) as reader:
        assert reader.shown_of(own.ids, own.views) == {}
        assert reader.troubles == []
    with reading(browser, console.link(own_key)) as reader:
        assert reader.shown_of(other.ids, other.views) == {}
        assert reader.troubles == []


def seen_of(console: Console, browser: Browser, api_key: str) -> Seen:
    """Have an organisation do something of everything; return what its admin sees."""
    with acting_as(console.served.platform, api_key):
        do_everything(console)
        with reading(browser, console.link(api_key)) as reader:
            views = list(reader.views())
            assert reader.troubles == []
            return Seen(api_key, views, reader.ids())


def do_everything(console: Console) -> None:
    """Have completions scored and one reviewed, an export, rows of the ledger, decks, and more."""
    platform = console.served.platform
    task_id = platform.new_task(console.served.new_grader())
    metadata = [{"value": 0.25}, {"value": 0.75}, {"outcome": "failed"}]
    completions = [
        {"modelId": model, "metadata": one} for model in ("base", "step") for one in metadata
    ]
    accepted = platform.submit(task_id, *completions)
    assert accepted.status == 202, accepted.text
    platform.score_everything()
    platform.project()
    exports.finish(platform, exports.start(platform, filters={"taskId": task_id}))
    reviewing = Reviewing(platform)
    reviewing.request(10)
    reviewing.link("cleo")
    with ledger(platform) as made:
        made.enqueue(made.connect(), "first", "second")
        made.run()
        filled_decks(made, samples=16)
    hook = platform.call("POST", "/api/v1/webhooks", {"url": "https://example.com/hook"})
    assert hook.status == 201, hook.text
    platform.new_reward_url(task_id)


@contextmanager
def acting_as(platform: Platform, api_key: str) -> Iterator[None]:
    """Have the platform's calls come from a key until the block is left."""
    before, platform.api_key = platform.api_key, api_key
    try:
        yield
    finally:
        platform.api_key = before
