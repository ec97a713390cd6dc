"""Which instances a base has, and what becomes of it where none is to be had."""

from datetime import timedelta

import pytest

from autotune_platform.apprentice.hosting import lacking
from autotune_platform.apprentice.hosting.hosts import Found
from autotune_platform.apprentice.hosting.models import STARTED_AFTER
from autotune_platform.apprentice.hosting.repository import HostingDay
from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason
from local.sagemaker.faults import Kind
from tests.support.hostings import BASE, BOTH, FIRST, SECOND, reason_of, sum_of, training_on
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
    ("created", "minutes", "then"),
    [
        ("CreateEndpoint", 31, ("waiting", None)),
        ("CreateInferenceComponent", 46, ("deleting", "stuck")),
    ],
)
def test_what_is_stuck_is_alarmed_and_deleted_once_it_can_be(
    hosted, caplog, created, minutes, then
):
    hosted.lab.plant(Kind.STUCK, operation=created, seconds=1.5)
    hosting = hosted.base_of(hosted.want("1-aa"))
    look = hosted.advancing.look

    def again():
        look(hosted.repository.find(hosted.task_id, hosting.name))

    again()
    if created == "CreateInferenceComponent":
        until(lambda: "Creating" not in endpoints_of(hosted))
        again()
    hosted.clock.turn(minutes=minutes)
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


@pytest.mark.parametrize("operation", ["CreateEndpointConfig", "CreateInferenceComponent"])
def test_the_next_type_is_tried_where_sagemaker_does_not_take_one(hosted, operation):
    hosted.lab.plant(Kind.REFUSED, operation=operation)
    hosting = hosted.ready("1-aa", number=1, base=BOTH)
    base = hosted.base_of(hosting)
    assert (base.instance_type, base.lacking) == (SECOND, None)
    assert isinstance(hosted.ask(hosting), LocalAnswer)


def test_a_type_that_sagemaker_does_not_take_is_not_tried_again(hosted):
    hosted.lab.plant(Kind.REFUSED, operation="CreateEndpointConfig")
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint")
    wanted = hosted.wanted("1-aa", base=BOTH)
    hosting = hosted.hostings.want(wanted)
    for _ in range(6):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert (base.state, base.lacking.next) == ("waiting", SECOND)
    assert base.lacking.lacks == {FIRST: "refused", SECOND: "capacity"}
    hosted.sweep(minutes=10)
    for _ in range(6):
        hosted.sweep()
    assert hosted.hostings.want(wanted).state == "ready"
    assert hosted.base_of(hosting).instance_type == SECOND


@pytest.mark.parametrize(
    ("operation", "looks"), [("CreateEndpointConfig", 8), ("CreateEndpoint", 14)]
)
def test_types_that_sagemaker_does_not_take_are_not_waited_for(hosted, operation, looks):
    hosted.lab.plant(Kind.REFUSED, operation=operation, times=1_000)
    wanted = hosted.wanted("1-aa", base=BOTH)
    hosting = hosted.hostings.want(wanted)
    for _ in range(looks):
        hosted.sweep()
    assert hosted.hostings.want(wanted).error == "refused"
    base = hosted.base_of(hosting)
    assert (base.state, base.error) == ("gone", "refused")
    assert base.lacking.lacks == {FIRST: "refused", SECOND: "refused"}
    assert hosted.there() == set()


def test_an_endpoint_whose_configuration_is_not_seen_yet_is_asked_for_again(hosted):
    hosted.lab.plant(Kind.REFUSED, operation="CreateEndpoint", times=2)
    hosting = hosted.ready("1-aa", number=1, base=BOTH)
    assert hosted.base_of(hosting).instance_type == FIRST


def test_a_version_that_only_serves_has_the_types_that_its_task_has_by_now(hosted):
    hosting = hosted.ready("1-aa", number=1, base=BOTH)
    # All of it is gone, and is made again once somebody asks, when no type has room.
    third, other = "ml.g6.xlarge", "ml.g6.2xlarge"
    lost(hosted, hosting)
    hosted.configure(2, **training_on(third, FIRST))
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint", times=4)
    asked_for_a_while(hosted, hosting)
    base = hosted.base_of(hosting)
    assert (base.state, base.instance_types) == ("waiting", (third, FIRST))
    assert base.lacking.lacks == {third: "capacity", FIRST: "capacity"}
    assert base.lacking.next == third

    # It waits, and its task has others: the one that was next is not tried.
    hosted.configure(3, **training_on(other, FIRST))
    hosted.sweep(minutes=6)
    for _ in range(8):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert base.lacking.lacks == {other: "capacity", FIRST: "capacity"}
    hosted.configure(4, **training_on(FIRST))
    hosted.sweep(minutes=6)
    base = hosted.base_of(hosting)
    assert (base.lacking.next, base.lacking.lacks) == (FIRST, {FIRST: "capacity"})
    hosted.sweep(minutes=20)
    asked_for_a_while(hosted, hosting)
    assert hosted.base_of(hosting).instance_type == FIRST
    assert isinstance(hosted.ask(hosting), LocalAnswer)


def lost(hosted, hosting):
    """Have a version and its base be gone, though nobody here took them down."""
    for name in (hosting.name, hosting.base):
        hosted.lab.sagemaker.delete_inference_component(InferenceComponentName=name)
        until(lambda: not hosted.under_way())
    for _ in range(8):
        hosted.sweep(minutes=6)
    assert hosted.there() == set()


def asked_for_a_while(hosted, hosting):
    for _ in range(12):
        hosted.ask(hosting)
        hosted.sweep()


def with_an_endpoint_under_way(hosted, monkeypatch):
    """Return a base whose endpoint is being made when it is looked at first, and is there then."""
    base = hosted.base_of(hosted.want("1-aa", base=BOTH))
    hosts = hosted.advancing.hosts
    monkeypatch.setattr(hosts, "endpoint", lambda _: Found("Creating"))
    hosted.advancing.look(base)
    monkeypatch.undo()
    assert hosts.create_endpoint(base)
    hosted.lab.settled(base.name)
    return base


@pytest.mark.parametrize("what", ["endpoint", "component"])
def test_what_is_taken_and_described_a_moment_later_is_not_refused(hosted, monkeypatch, what):
    """SageMaker's tables are eventually consistent."""
    hosting = hosted.want("1-aa", base=BOTH)
    hosts = hosted.advancing.hosts
    described, unseen = getattr(hosts, what), []

    def late(one):
        found = described(one)
        if found.status is None or unseen.count(one.name) > 1:
            return found
        unseen.append(one.name)
        return Found(None)

    monkeypatch.setattr(hosts, what, late)
    for _ in range(12):
        hosted.sweep()
        until(lambda: not hosted.under_way())
    assert unseen
    assert isinstance(hosted.ask(hosting), LocalAnswer)
    assert hosted.base_of(hosting).instance_type == FIRST
    assert hosted.base_of(hosting).lacking is None


def test_an_endpoint_whose_first_try_is_late_has_another(hosted):
    hosting = hosted.want("1-aa", base=BOTH)
    hosted.lab.plant(Kind.REFUSED, operation="CreateEndpoint")
    hosted.clock.turn(minutes=10)
    hosted.sweep()
    assert hosted.base_of(hosting).lacking is None
    hosted.sweep()
    assert "endpoint" in hosted.base_of(hosting).created
    assert hosted.base_of(hosting).instance_type == FIRST


def test_an_instance_is_counted_whose_component_is_beyond_a_quota(hosted, monkeypatch):
    hosted.advancing.steps.prices = InstancePrices(usd={FIRST: "0.36", SECOND: "0.72"})
    base = with_an_endpoint_under_way(hosted, monkeypatch)
    hosted.lab.plant(Kind.RESOURCE_LIMIT, operation="CreateInferenceComponent")
    hosted.sweep(minutes=10)
    base = hosted.repository.find(hosted.task_id, base.name)
    assert (base.state, base.lacking.lacks) == ("waiting", {FIRST: "quota"})
    assert sum_of(hosted) == HostingDay(600, 0, 600 * 100_000)


def test_a_component_has_as_long_as_sagemaker_lets_it_load_and_start(hosted, monkeypatch):
    base = with_an_endpoint_under_way(hosted, monkeypatch)
    hosted.lab.plant(Kind.STUCK, operation="CreateInferenceComponent")
    states = []
    for minutes in (29, 40, 6):
        hosted.clock.turn(minutes=minutes)
        hosted.advancing.look(hosted.repository.find(hosted.task_id, base.name))
        found = hosted.repository.find(hosted.task_id, base.name)
        states.append((found.state, found.error))
    assert states == [("creating", None), ("creating", None), ("deleting", "stuck")]
    made = hosted.lab.sagemaker.describe_inference_component(InferenceComponentName=base.name)
    allowed = made["Specification"]["StartupParameters"]
    assert timedelta(seconds=sum(allowed.values())) < STARTED_AFTER
