"""A base of which nothing is stored is made again for the adapters that it has."""

import pytest

from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.local.contract import LocalAnswer, Unavailable
from local.sagemaker.faults import Kind
from tests.support.hostings import BOTH, FIRST, SECOND, sum_of, training_on
from tests.support.local_sagemaker import BUCKET

BASE = BOTH._replace(artifact=f"s3://{BUCKET}/apprentice/bases/small/")


@pytest.fixture
def hosted(hosted):
    hosted.configure(1, **training_on(FIRST, SECOND))
    hosted.lab.upload("apprentice/bases/small/weights", "weights")
    return hosted


def forgotten(hosted, hosting):
    """Have nothing be stored of a base."""
    hosted.table.delete(f"{hosted.task_id}#hosting", f"host#{hosting.base}")


def stored(hosted, hosting):
    return hosted.repository.find(hosted.task_id, hosting.base)


def gone(hosted, hosting):
    """Have an adapter be given up, and its base with it."""
    hosted.advancing.steps.enter(hosted.base_of(hosting), "deleting", error="stuck")
    for _ in range(8):
        hosted.sweep()
    assert hosted.state(hosting) == "gone"
    assert hosted.there() == set()
    hosted.sweep(minutes=16)


@pytest.mark.parametrize(
    ("present", "types"), [(training_on(SECOND), (SECOND,)), ({}, (FIRST, SECOND))]
)
def test_one_call_has_a_base_made_again_of_which_nothing_is_stored(hosted, present, types):
    """An earlier configuration says what it is of, and the present one which types there are."""
    hosting = hosted.ready("1-aa", number=1, base=BASE)
    gone(hosted, hosting)
    forgotten(hosted, hosting)
    hosted.configure(2, **present)
    assert isinstance(hosted.ask(hosting), Unavailable)
    for _ in range(10):
        hosted.sweep()
    answer = hosted.ask(hosting)
    assert isinstance(answer, LocalAnswer), answer
    assert answer.served_model == hosting.name
    base = stored(hosted, hosting)
    assert (base.state, base.artifact, base.instance_types) == ("ready", BASE.artifact, types)


def test_a_base_that_serves_and_is_not_stored_is_seen_paid_for_and_sleeps(hosted):
    hosted.advancing.steps.prices = InstancePrices(usd={FIRST: "0.36", SECOND: "0.72"})
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint")
    hosting = hosted.ready("1-aa", number=1, base=BASE)
    assert stored(hosted, hosting).instance_type == SECOND
    forgotten(hosted, hosting)
    assert isinstance(hosted.ask(hosting), LocalAnswer)
    hosted.sweep(minutes=6)
    hosted.sweep()
    base = stored(hosted, hosting)
    assert (base.state, base.instance_type) == ("ready", SECOND)
    assert isinstance(hosted.ask(hosting), LocalAnswer)
    before = sum_of(hosted)
    hosted.sweep(minutes=6)
    after = sum_of(hosted)
    assert after.nano_usd - before.nano_usd == (after.seconds - before.seconds) * 200_000 > 0
    hosted.sweep(minutes=31)
    hosted.sweep()
    assert stored(hosted, hosting).state == "asleep"


def test_a_base_that_nobody_asks_and_is_not_stored_is_taken_down(hosted):
    hosting = hosted.ready("1-aa", number=1, base=BASE)
    forgotten(hosted, hosting)
    hosted.advancing.steps.enter(
        hosted.repository.find(hosted.task_id, hosting.name), "deleting", error="lost"
    )
    for _ in range(3):
        hosted.sweep()
    assert hosted.there() != set()
    hosted.sweep(hours=25)
    for _ in range(4):
        hosted.sweep()
    assert hosted.there() == set()
    assert stored(hosted, hosting).state == "gone"


def test_a_base_is_not_taken_down_under_an_adapter_that_serves(hosted):
    """Whichever of its adapters is looked at first."""
    first = hosted.ready("1-aa", number=1, base=BASE)
    second = hosted.ready("2-bb", number=2, base=BASE)
    lost = hosted.repository.find(hosted.task_id, first.name)
    hosted.advancing.steps.enter(lost, "deleting", error="lost")
    for _ in range(3):
        hosted.sweep()
    hosted.sweep(minutes=16)
    forgotten(hosted, first)
    assert isinstance(hosted.ask(first), Unavailable)
    for _ in range(4):
        hosted.sweep()
        assert hosted.state(second) == "ready"
    assert stored(hosted, second).state == "ready"
    answer = hosted.ask(second)
    assert isinstance(answer, LocalAnswer), answer


def test_a_base_is_not_taken_down_under_an_adapter_that_cannot_be_read(hosted):
    """It may be there, for all anybody knows."""
    first = hosted.ready("1-aa", number=1, base=BASE)
    second = hosted.ready("2-bb", number=2, base=BASE)
    key = (f"{hosted.task_id}#hosting", f"host#{second.name}")
    hosted.table.put({**hosted.table.get(*key), "state": "unheard of", "due_at": "2999-01-01"})
    lost = hosted.repository.find(hosted.task_id, first.name)
    hosted.advancing.steps.enter(lost, "deleting", error="lost")
    for _ in range(3):
        hosted.sweep()
    hosted.sweep(minutes=16)
    forgotten(hosted, first)
    assert isinstance(hosted.ask(first), Unavailable)
    for _ in range(4):
        hosted.sweep()
        assert {second.name, second.base} <= hosted.there()
    assert stored(hosted, second).state == "ready"


def test_an_instance_that_nobody_counts_is_alarmed(hosted, caplog):
    hosting = hosted.ready("1-aa", number=1, base=BASE._replace(rank=64))
    forgotten(hosted, hosting)
    hosted.sweep(minutes=6)
    told = [one.why for one in caplog.records if one.message == STUCK_MESSAGE]
    assert told == ["nothing says what its base is of"]
    assert isinstance(hosted.ask(hosting), LocalAnswer)


def test_what_no_configuration_names_stays_as_it_is(hosted, caplog):
    hosting = hosted.ready("1-aa", number=1, base=BASE._replace(rank=64))
    gone(hosted, hosting)
    forgotten(hosted, hosting)
    assert isinstance(hosted.ask(hosting), Unavailable)
    for _ in range(4):
        hosted.sweep()
    assert stored(hosted, hosting) is None
    assert hosted.state(hosting) == "gone"
    assert STUCK_MESSAGE not in caplog.messages
