from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.checked_wire import checked_wire
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.granted import denied_since_last
from tests.support.kept import kept
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform
from tests.support.shared_platform import shared_platform

_compared: set[tuple[str, ...]] = set()


@pytest.fixture(autouse=True)
def what_is_asked_of_dynamodb() -> Iterator[None]:
    """Find requests that DynamoDB knows not, as clients of the product check none."""
    with checked_wire(_compared):
        yield


@pytest.fixture
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    """The whole server side; whatever it stores is in a module ``holdings``, as it is there."""
    is_shared = request.node.get_closest_marker("concurrent") is not None
    with (shared_platform if is_shared else make_platform)(monkeypatch) as made:
        denied_since_last()
        yield made
        assert denied_since_last() == [], "a role may not do what its function asked for"
        stored = list(kept())
        assert [(one.place, one.key) for one in stored if not one.is_as_described] == []
        assert [(one.key, one.misnamed) for one in stored if one.misnamed] == []


@pytest.fixture
def grader() -> Iterator[LoopbackGrader]:
    with loopback_grader() as made:
        yield made


@pytest.fixture
def due_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have batches swept as soon as they are submitted, and again at once."""
    # What is due is due before the millisecond that it is looked for in.
    at_once = timedelta(milliseconds=-1)
    for module in ("submission", "open_batches", "batch_rescoring"):
        monkeypatch.setattr(f"autotune_platform.completions.{module}.FIRST_SWEEP_AFTER", at_once)
    monkeypatch.setattr("autotune_platform.scoring.sweeper._wait", lambda _: at_once)
