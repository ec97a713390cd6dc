import pytest

from functions.reviews import api
from tests.support.clock import TurnedClock
from tests.support.platform import Platform
from tests.support.reviews import Reviewing


@pytest.fixture
def reviewing(platform: Platform) -> Reviewing:
    return Reviewing(platform)


@pytest.fixture
def clock() -> TurnedClock:
    """A clock of the reviews' function that a test can turn."""
    turned = TurnedClock()
    parts = api.parts()
    for service in (parts.reviews, parts.review_answering, parts.review_changes, parts.agreements):
        service.clock = turned
    parts.resolver.clock = turned
    return turned
