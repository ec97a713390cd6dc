from collections.abc import Iterator

import pytest

from tests.support.platform import Platform
from tests.support.platform import platform as make_platform


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    with make_platform(monkeypatch) as made:
        yield made
