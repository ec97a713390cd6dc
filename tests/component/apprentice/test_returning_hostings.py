"""What was given up returns with its base, whenever its version is asked and whoever looks."""

import pytest

from autotune_platform.apprentice.local.contract import LocalAnswer
from tests.support.apprentice_items import document
from tests.support.local_sagemaker import until

SPOILED = (*(1.0,) * 120, *(0.0,) * 60)


def lost(hosted, hosting):
    """Have a version and its base be gone, though nobody here took them down."""
    for name in (hosting.name, hosting.base):
        hosted.lab.sagemaker.delete_inference_component(InferenceComponentName=name)
        until(lambda: not hosted.under_way())
    for _ in range(5):
        hosted.sweep(minutes=6)
    assert hosted.there() == set()
    assert hosted.state(hosting) == hosted.base_of(hosting).state == "gone"


def asked_each_minute(hosted, hosting):
    """Have callers ask a version each minute until it answers."""
    for _ in range(8):
        if isinstance(hosted.ask(hosting), LocalAnswer):
            break
        hosted.sweep(minutes=1)
    assert isinstance(hosted.ask(hosting), LocalAnswer)


def test_a_base_that_was_gone_for_over_a_day_returns_with_its_adapter(hosted):
    hosting = hosted.ready("1-aa", number=1)
    lost(hosted, hosting)
    hosted.sweep(hours=26)
    asked_each_minute(hosted, hosting)
    assert hosted.base_of(hosting).state == "ready"


def test_an_adapter_that_returns_while_its_base_is_looked_at_keeps_it(hosted):
    hosting = hosted.ready("1-aa", number=1)
    hosted.judge(1, *SPOILED, attempt=1)
    hosted.sweep(minutes=6)
    hosted.clock.turn(hours=25)

    def looked(name):
        hosted.advancing.look(hosted.repository.find(hosted.task_id, name))
        until(lambda: not hosted.under_way())

    for _ in range(4):
        looked(hosting.name)
    found = hosted.repository.find(hosted.task_id, hosting.name)
    assert (found.state, found.error) == ("gone", "unasked")
    hosted.configure(2, thresholds={**document()["thresholds"], "emergencyThreshold": 0.1})
    hosted.repository.want(hosted.task_id, hosting.base, hosted.clock.now(), idle_minutes=30)
    base = hosted.base_of(hosting)
    assert base.state == "ready"

    # A look has seen the base without an adapter, and stores that after the adapter's own look.
    repository = hosted.advancing.repository
    adapters_of, looks = repository.adapters_of, []

    def seen(of):
        own = adapters_of(of)
        if not looks:
            looks.append(looked(hosting.name))
        return own

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(repository, "adapters_of", seen)
        hosted.advancing.look(base)
    assert hosted.state(hosting) == "creating"
    assert hosted.base_of(hosting).state == "ready"
    asked_each_minute(hosted, hosting)


def test_an_adapter_that_goes_with_its_base_may_return(hosted):
    hosting = hosted.ready("1-aa", number=1)
    base = hosted.base_of(hosting)
    hosted.advancing.steps.enter(base, "deleting")
    for _ in range(6):
        hosted.sweep()
    found = hosted.repository.find(hosted.task_id, hosting.name)
    assert (found.state, found.error) == ("gone", "lost")
    hosted.sweep(minutes=16)
    asked_each_minute(hosted, hosting)
