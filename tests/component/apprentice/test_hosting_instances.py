"""Which instances a base has, and what becomes of it where none is to be had."""

from datetime import timedelta

import pytest

from autotune_platform.apprentice.hosting import lacking
from autotune_platform.apprentice.hosting.advancing import STUCK_MESSAGE
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason
from local.sagemaker.faults import Kind
from tests.support.hostings import BASE, BOTH, FIRST, SECOND, reason_of, sum_of
from tests.support.local_sagemaker import until, variant


@pytest.mark.parametrize("kind", [Kind.CAPACITY, Kind.RESOURCE_LIMIT])
def test_the_next_type_of_instance_is_tried_where_one_is_not_to_be_had(hosted, kind):
    hosted.advancing.steps.prices = InstancePrices(usd={FIRST: "0.36", SECOND: "0.72"})
    hosted.lab.plant(kind, operation="CreateEndpoint")
    hosting = hosted.ready("1-aa", number=1, base=BOTH)
    base = hosted.base_of(hosting)
    assert (base.instance_type, base.lacking) == (SECOND, None)
    config = hosted.lab.sagemaker.describe_endpoint_config(EndpointConfigName=base.name)
    assert config["ProductionVariants"][0]["InstanceType"] == SECOND
    assert isinstance(hosted.ask(hosting), LocalAnswer)
    hosted.sweep(minutes=6)
    spent = sum_of(hosted)
    assert spent.nano_usd == spent.seconds * 200_000 > 0


def test_without_room_on_any_type_all_are_tried_again_later(hosted):
    hosted.lab.plant(Kind.RESOURCE_LIMIT, operation="CreateEndpoint")
    hosted.lab.plant(Kind.CAPACITY, operation="CreateInferenceComponent")
    wanted = hosted.wanted("1-aa", base=BOTH)
    hosting = hosted.hostings.want(wanted)
    for _ in range(9):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert (base.state, base.lacking.next) == ("waiting", FIRST)
    assert base.lacking.lacks == {FIRST: "quota", SECOND: "capacity"}
    assert hosted.there() == set()
    hosted.sweep(minutes=8)
    for _ in range(6):
        hosted.sweep()
    assert hosted.hostings.want(wanted).state == "ready"
    assert hosted.base_of(hosting).instance_type == FIRST


def test_other_types_are_tried_at_once_when_a_task_has_them(hosted):
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint")
    wanted = hosted.wanted("1-aa")
    hosting = hosted.hostings.want(wanted)
    for _ in range(3):
        hosted.sweep()
    assert hosted.base_of(hosting).state == "waiting"

    # Behind the first it is the same base, and another first one has another.
    hosted.hostings.want(wanted._replace(base=BOTH))
    hosted.sweep()
    assert hosted.base_of(hosting).instance_type == SECOND
    other = BASE._replace(instance_types=("ml.g6.xlarge",))
    moved = wanted._replace(base=other)
    for _ in range(6):
        found = hosted.hostings.want(moved)
        hosted.sweep()
    assert hosted.hostings.want(moved).state == "ready"
    assert found.base != hosting.base
    for _ in range(4):
        hosted.sweep()
    assert hosting.base not in hosted.there()


def test_what_nobody_asks_for_any_more_is_not_waited_for(hosted):
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint", times=1_000)
    wanted = hosted.wanted("1-aa")
    hosting = hosted.hostings.want(wanted)
    for _ in range(2):
        hosted.sweep(hours=5)
        assert hosted.hostings.want(wanted).state == "creating"
    hosted.sweep(hours=7)
    for _ in range(4):
        hosted.sweep()
    assert hosted.state(hosting) == "gone"
    assert hosted.base_of(hosting).state == "gone"
    assert hosted.there() == set()


def test_what_cannot_be_hosted_is_given_up_and_gone(hosted, monkeypatch):
    monkeypatch.setattr(lacking, "GIVE_UP_AFTER", timedelta())
    without_capacity, beyond_the_limit, taken = (
        hosted.want(f"{rank}-aa", base=BASE._replace(rank=rank)) for rank in (8, 16, 32)
    )
    create = "CreateEndpoint"
    hosted.lab.plant(Kind.CAPACITY, operation=create, name=without_capacity.base)
    hosted.lab.plant(Kind.RESOURCE_LIMIT, operation=create, name=beyond_the_limit.base)
    # Somebody else's, which is neither used nor deleted.
    hosted.lab.model("others")
    hosted.lab.config("others", variant("others"))
    hosted.lab.endpoint(taken.base, "others")
    for _ in range(8):
        hosted.sweep()

    found = {one.name: (one.state, one.error) for one in hosted.repository.of_task(hosted.task_id)}
    for hosting, error in (
        (without_capacity, "no_capacity"),
        (beyond_the_limit, "limit"),
        (taken, "name_taken"),
    ):
        assert found[hosting.base] == found[hosting.name] == ("gone", error)
    assert hosted.there() == {"others", taken.base}
    assert hosted.want("8-aa", base=BASE._replace(rank=8)).error == "no_capacity"


def test_an_adapter_whose_base_does_not_start_is_given_up_with_it(hosted, monkeypatch):
    monkeypatch.setattr(lacking, "GIVE_UP_AFTER", timedelta())
    hosted.lab.plant(Kind.CAPACITY, operation="CreateInferenceComponent")
    adapter = hosted.want("1-aa")
    for _ in range(8):
        hosted.sweep()
    assert hosted.want("1-aa").error == "no_capacity"
    assert hosted.state(adapter) == "gone"
    assert hosted.there() == set()


@pytest.mark.parametrize(
    ("created", "then"),
    [("CreateEndpoint", ("waiting", None)), ("CreateInferenceComponent", ("deleting", "stuck"))],
)
def test_what_is_stuck_is_alarmed_and_deleted_once_it_can_be(hosted, caplog, created, then):
    hosted.lab.plant(Kind.STUCK, operation=created, seconds=1.5)
    hosting = hosted.base_of(hosted.want("1-aa"))
    look = hosted.advancing.look

    def again():
        look(hosted.repository.find(hosted.task_id, hosting.name))

    again()
    if created == "CreateInferenceComponent":
        until(lambda: "Creating" not in endpoints_of(hosted))
        again()
    hosted.clock.turn(minutes=31)
    again()
    found = hosted.repository.find(hosted.task_id, hosting.name)
    assert (found.state, found.error) == then
    assert STUCK_MESSAGE in caplog.text
    again()  # SageMaker deletes nothing that it is making
    assert hosted.state(hosting) == then[0]
    assert hosting.name in hosted.there()
    for _ in range(4):
        hosted.sweep()
    assert hosted.there() == set()
    if then[0] == "waiting":
        assert hosted.base_of(hosted.want("1-aa")).lacking.lacks == {FIRST: "capacity"}
    else:
        assert hosted.state(hosting) == "gone"
        assert hosted.want("1-aa").error == "stuck"


def endpoints_of(hosted):
    found = hosted.lab.sagemaker.list_endpoints()["Endpoints"]
    return [one["EndpointStatus"] for one in found]


def test_a_base_that_finds_no_instance_sleeps_on_and_is_tried_again(hosted, caplog):
    hosting = hosted.ready("1-aa", number=1)
    hosted.sweep(minutes=31)
    hosted.sweep()
    hosted.lab.plant(Kind.CAPACITY, operation="UpdateInferenceComponentRuntimeConfig", times=1_000)
    assert reason_of(hosted.ask(hosting)) == Reason.NOT_READY
    hosted.sweep()
    assert hosted.base_of(hosting).state == "resizing"
    hosted.sweep(minutes=31)
    assert hosted.base_of(hosting).state == "asleep"
    assert STUCK_MESSAGE in caplog.text

    hosted.lab.faults.clear()
    assert reason_of(hosted.ask(hosting)) == Reason.NOT_READY
    hosted.sweep()
    hosted.sweep()
    assert isinstance(hosted.ask(hosting), LocalAnswer)
