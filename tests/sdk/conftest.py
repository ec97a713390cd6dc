from collections.abc import Iterator

import pytest

from tests.support.served_platform import ServedPlatform, serve_platform


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedPlatform]:
    """The platform's API on loopback."""
    with serve_platform(monkeypatch) as running:
        yield running
