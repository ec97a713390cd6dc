import pytest

from autotune.integrations.scoring import shared_async_scorer, shared_scorer


@pytest.fixture
def api(environment, api, monkeypatch):
    """The platform is where a trainer's environment says that Autotune is."""
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    return api


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A trainer's environment that says nothing of tasks, and of Autotune only where it is."""
    for name in ("AUTOTUNE_TASK_ID", "AUTOTUNE_MODEL_ID", "AUTOTUNE_REWARD_TIMEOUT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AUTOTUNE_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AUTOTUNE_API_KEY", "key_1.00")
    yield
    shared_scorer.cache_clear()
    shared_async_scorer.cache_clear()


@pytest.fixture
def task_id(api) -> str:
    return api.new_task("rewards")


@pytest.fixture
def submitted(api):
    """What reached the API: every completion, in the order of submission."""
    fields = {"task_id", "model_id", "prompt", "response", "metadata"}
    return lambda: [one.model_dump(include=fields) for one in api.stored()]
