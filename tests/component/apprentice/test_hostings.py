"""Hosting at the local SageMaker, whose endpoints and components are real processes."""

from autotune_platform.apprentice.local.contract import LocalAnswer, Reason
from local.sagemaker.faults import Kind
from tests.support.apprentice_folding import Apprentice
from tests.support.hostings import BASE, PREFIX, reason_of, teardown


def test_a_component_lives_as_long_as_its_version_and_a_day(hosted):
    hosting = hosted.ready("1-aa", number=1)
    answer = hosted.ask(hosting)

    assert isinstance(answer, LocalAnswer), answer
    assert answer.served_model == hosting.name
    model = hosted.lab.sagemaker.describe_model(ModelName=hosting.base)
    assert model["EnableNetworkIsolation"]
    endpoint = hosted.lab.sagemaker.describe_endpoint(EndpointName=hosting.base)
    tags = hosted.lab.sagemaker.list_tags(ResourceArn=endpoint["EndpointArn"])["Tags"]
    assert {"Key": "autotune:stack", "Value": PREFIX} in tags

    hosted.retire(hosting, 1)
    hosted.sweep(hours=23)
    assert hosted.state(hosting) == "ready"
    hosted.sweep(hours=2)
    for _ in range(7):
        hosted.sweep()
    assert hosted.state(hosting) == "gone"
    assert hosted.there() == set()
    hosted.sweep(hours=25)
    assert hosted.state(hosting) == "forgotten"


def test_adapters_share_a_base_that_sleeps_when_nobody_asks(hosted):
    first = hosted.ready("1-aa", number=1)
    second = hosted.ready("2-bb", number=2)
    assert first.base == second.base
    for one in (first, second):
        answer = hosted.ask(one)
        assert isinstance(answer, LocalAnswer), answer
        assert answer.served_model == one.name

    # A call within the half hour keeps it awake.
    hosted.sweep(minutes=29)
    hosted.ask(first)
    hosted.sweep(minutes=2)
    assert hosted.base_of(first).state == "ready"
    hosted.sweep(minutes=30)
    hosted.sweep()
    assert hosted.base_of(first).state == "asleep"
    component = hosted.lab.component(first.base)
    assert component["RuntimeConfig"]["CurrentCopyCount"] == 0

    # Whoever is not answered has it wake, once a minute.
    hosted.sweep(hours=3)
    assert hosted.base_of(first).state == "asleep"
    writes = hosted.base_of(first).wanted_at
    assert writes is None
    assert reason_of(hosted.ask(first)) == Reason.NOT_READY
    noted = hosted.base_of(first)
    assert reason_of(hosted.ask(second)) == Reason.NOT_READY
    assert hosted.base_of(first) == noted
    hosted.sweep(seconds=1)
    hosted.sweep()
    assert hosted.base_of(first).state == "ready"
    assert isinstance(hosted.ask(first), LocalAnswer)
    assert isinstance(hosted.ask(second), LocalAnswer)


def test_the_last_adapter_takes_its_base_along(hosted):
    first = hosted.ready("1-aa", number=1)
    second = hosted.ready("2-bb", number=2)
    hosted.retire(first, 1)
    hosted.sweep(hours=25)
    for _ in range(4):
        hosted.sweep()
    assert (hosted.state(first), hosted.state(second)) == ("gone", "ready")
    assert first.name not in hosted.there()
    assert second.name in hosted.there()

    # A task that is deleted has no versions and no configurations.
    hosted.table.delete(hosted.task_id, "configuration#000001")
    hosted.sweep(hours=2)
    for _ in range(6):
        hosted.sweep()
    assert hosted.there() == set()


def test_a_base_is_made_again_for_an_adapter_that_comes_later(hosted):
    first = hosted.ready("1-aa", number=1)
    hosted.retire(first, 1)
    hosted.sweep(hours=25)
    for _ in range(6):
        hosted.sweep()
    assert hosted.there() == set()
    second = hosted.ready("2-bb", number=2)
    assert second.base == first.base
    assert isinstance(hosted.ask(second), LocalAnswer)


def test_lost_answers_and_throttling_change_nothing_twice(hosted):
    for operation in ("CreateModel", "CreateEndpointConfig", "CreateEndpoint", "ListTags"):
        hosted.lab.plant(Kind.LOST_ANSWER, operation=operation)
    for operation in ("CreateInferenceComponent", "DescribeEndpoint"):
        hosted.lab.plant(Kind.THROTTLING, operation=operation)
    hosting = hosted.ready("1-aa", number=1)
    assert isinstance(hosted.ask(hosting), LocalAnswer)


def test_a_hosting_that_was_called_meanwhile_does_not_sleep(hosted):
    hosting = hosted.ready("1-aa", number=1)
    base = hosted.base_of(hosting)
    hosted.clock.turn(minutes=31)
    hosted.ask(hosting)
    hosted.advancing.look(base)  # as it was read before the call
    assert hosted.base_of(hosting).state == "ready"
    assert hosted.lab.component(base.name)["RuntimeConfig"]["CurrentCopyCount"] == 1

    # The task has another patience by now.
    hosted.clock.turn(minutes=1)
    hosted.ask(hosting, idle_minutes=120)
    hosted.sweep(minutes=100)
    assert hosted.base_of(hosting).state == "ready"

    hosted.lab.plant(Kind.SLOW, operation="InvokeEndpoint", seconds=0.5)
    assert reason_of(hosted.ask(hosting, timeout_ms=200)) == Reason.TIMED_OUT
    assert hosted.base_of(hosting).wanted_at is not None


def test_a_teardown_takes_all_of_the_stack_and_nothing_else(hosted):
    hosted.ready("1-aa", number=1)
    hosted.ready("2-bb", number=2, base=BASE._replace(rank=32))
    hosted.lab.model("autotune-of-somebody-else")
    before = hosted.there()

    code, lines = teardown("--dry-run")
    assert code == 0
    assert {name for _, name, *_ in lines} == before - {"autotune-of-somebody-else"}
    assert hosted.there() == before
    code, _ = teardown()  # nobody is there to be asked
    assert code != 0
    assert hosted.there() == before

    code, lines = teardown("--yes")
    assert code == 0
    assert hosted.there() == {"autotune-of-somebody-else"}
    kinds = [kind for kind, *_ in lines]
    assert kinds == sorted(kinds, key=["component", "endpoint", "configuration", "model"].index)
    for _ in range(3):
        hosted.sweep(hours=1)
    assert hosted.there() == {"autotune-of-somebody-else"}
    assert teardown("--yes") == (0, [])


def test_a_deleted_task_leaves_nothing_that_costs_money(hosted, platform, ledger):
    task = Apprentice(platform, ledger.connect())
    hosted.task_id = task.task.id
    first, second = hosted.ready("1-aa", number=1), hosted.ready("2-bb", number=2)
    stale = hosted.repository.find(hosted.task_id, first.name)

    assert platform.call("DELETE", "/api/v1/apprentice/tasks/intents").status == 204

    # A look that began before overlooks nothing of it.
    hosted.advancing.look(stale)
    for _ in range(8):
        hosted.sweep(seconds=60)
    assert hosted.there() == set()
    hosted.sweep(seconds=60)
    assert {hosted.state(one) for one in (first, second)} == {"forgotten"}
    assert hosted.repository.of_task(hosted.task_id) == []
