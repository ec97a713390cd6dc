import pytest

from autotune_platform.graders import repository


@pytest.fixture
def one_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the health of all graders together."""
    monkeypatch.setattr(repository, "HEALTH_SHARDS", 1)
