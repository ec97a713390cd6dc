"""Two that write a hosting at the same time: whichever comes first, nothing is lost or kept."""

from datetime import timedelta

import pytest

from autotune_platform.apprentice.hosting.models import KEPT_FOR, base_name_of
from autotune_platform.apprentice.local.contract import LocalAnswer
from local.sagemaker.faults import Kind
from tests.support.hostings import BASE, PREFIX

OTHER = BASE._replace(rank=32)


def looked(hosted, hosting):
    hosted.advancing.look(hosted.repository.find(hosted.task_id, hosting.name))


def with_an_unused_base(hosted):
    """Return a base whose last adapter is gone, just before a look takes it down."""
    first = hosted.ready("1-aa", number=1, base=OTHER)
    hosted.retire(first, 1)
    hosted.clock.turn(hours=25)
    for _ in range(2):
        looked(hosted, first)
        hosted.lab.sagemaker.list_endpoints()
        while hosted.under_way():
            pass
    looked(hosted, first)
    assert hosted.state(first) == "gone"
    base = hosted.base_of(first)
    assert base.state != "deleting"
    return base


def at_the_write_of(hosted, monkeypatch, base, then):
    """Have something happen when a look has seen a base, before it stores what comes of it."""
    repository = hosted.advancing.steps.repository
    change, happened = repository.change, []

    def changed(before, after, *accounts):
        if before.name == base.name and not happened:
            happened.append(then())
        return change(before, after, *accounts)

    monkeypatch.setattr(repository, "change", changed)
    hosted.advancing.look(base)
    assert happened
    monkeypatch.undo()


def wishes(hosted):
    """Return an adapter that begins on a base, and one that moves there as its own has no room."""
    waiting = hosted.wanted("2-bb")
    own = base_name_of(PREFIX, hosted.task_id, BASE)
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint", name=own, times=1_000)
    return {"moves": waiting, "begins": hosted.wanted("3-cc", base=OTHER)}


@pytest.mark.parametrize("how", ["begins", "moves"])
def test_a_base_that_gets_an_adapter_while_it_is_looked_at_stays(hosted, monkeypatch, how):
    base = with_an_unused_base(hosted)
    wanted = wishes(hosted)[how]
    if how == "moves":
        hosted.hostings.want(wanted)
        wanted = wanted._replace(base=OTHER)
    at_the_write_of(hosted, monkeypatch, base, lambda: hosted.hostings.want(wanted))
    assert hosted.repository.find(hosted.task_id, base.name).state != "deleting"
    for _ in range(6):
        hosted.sweep()
    found = hosted.hostings.want(wanted)
    assert (found.state, found.base, found.error) == ("ready", base.name, None)


@pytest.mark.parametrize("how", ["begins", "moves"])
def test_an_adapter_waits_for_the_end_of_a_base_that_is_taken_down(hosted, monkeypatch, how):
    base = with_an_unused_base(hosted)
    wanted = wishes(hosted)[how]
    if how == "moves":
        hosted.hostings.want(wanted)
        wanted = wanted._replace(base=OTHER)
    # It has read the base, and writes after a look has taken that down.
    join, taken_down = hosted.repository.join, []

    def late(*asked):
        if not taken_down:
            hosted.advancing.look(base)
            taken_down.append(hosted.repository.find(hosted.task_id, base.name).state)
        return join(*asked)

    monkeypatch.setattr(hosted.repository, "join", late)
    first = hosted.hostings.want(wanted)
    assert taken_down == ["deleting"]
    for _ in range(12):
        found = hosted.hostings.want(wanted)
        assert found.error is None
        assert found.state in {"creating", "ready"}
        hosted.sweep()
    found = hosted.hostings.want(wanted)
    assert (first.name, found.state, found.base) == (found.name, "ready", base.name)


def test_an_adapter_that_moved_is_of_no_earlier_failure_of_its_base(hosted):
    hosted.lab.plant(Kind.REFUSED, operation="CreateEndpointConfig", name="*")
    wanted = hosted.wanted("2-bb", base=OTHER)
    failed = hosted.hostings.want(wanted)
    waiting = hosted.wanted("3-cc")
    begun = hosted.hostings.want(waiting).since
    hosted.clock.turn(minutes=1)
    for _ in range(3):
        looked(hosted, hosted.base_of(failed))
    assert (hosted.base_of(failed).state, hosted.base_of(failed).error) == ("gone", "refused")
    hosted.clock.turn(minutes=1)
    moved = hosted.hostings.want(waiting._replace(base=OTHER))
    assert moved.since == begun + timedelta(minutes=2)
    for _ in range(6):
        hosted.sweep()
    assert hosted.hostings.want(waiting._replace(base=OTHER)).state == "ready"


def test_whoever_waits_for_the_end_of_a_base_is_looked_at_less_and_less(hosted):
    base = with_an_unused_base(hosted)
    hosted.advancing.look(base)
    since = hosted.repository.find(hosted.task_id, base.name).since
    hosted.clock.turn(hours=2)
    found = hosted.want("3-cc", base=OTHER)
    assert (found.state, found.since) == ("creating", since)


def test_a_hosting_that_was_made_again_is_not_forgotten(hosted):
    hosting = hosted.ready("1-aa", number=1)
    hosted.sweep(minutes=31)
    hosted.retire(hosting, 1)
    hosted.sweep(hours=25)
    for _ in range(6):
        hosted.sweep()
    stale = hosted.base_of(hosting)
    assert stale.state == "gone"
    second = hosted.ready("2-bb", number=2)
    assert second.base == stale.name
    hosted.clock.turn(seconds=KEPT_FOR.total_seconds() + 60)
    hosted.advancing.look(stale)  # by a look that has read it before
    assert hosted.state(stale) == "ready"
    assert isinstance(hosted.ask(second), LocalAnswer)
