"""Hosting at the local SageMaker, whose endpoints and components are real processes."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from autotune_platform.apprentice.hosting import lacking
from autotune_platform.apprentice.hosting.advancing import STUCK_MESSAGE
from autotune_platform.apprentice.hosting.hosts import environment_of
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.hosting.repository import HostingDay
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason, Unavailable
from local.sagemaker.faults import Kind
from tests.support.apprentice_folding import Apprentice
from tests.support.hostings import ADAPTER, BASE, PREFIX, teardown
from tests.support.hostings import hosted as make_hosted
from tests.support.lmi_host import environment_fault
from tests.support.local_sagemaker import until, variant

FIRST, SECOND = "ml.g5.xlarge", "ml.g5.2xlarge"
BOTH = BASE._replace(instance_types=(FIRST, SECOND))


@pytest.fixture
def hosted(platform, tmp_path, monkeypatch):
    with make_hosted(tmp_path, monkeypatch) as made:
        yield made


def reason_of(found):
    assert isinstance(found, Unavailable), found
    return found.reason


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


def test_answers_of_real_hosts_count_in_each_form_that_they_have(hosted):
    """Of LMI's versions, and of what stands between them and us; see ``lmi_host``."""
    hosting = hosted.ready("1-aa", number=1)
    other = hosted.ready("2-bb", number=2)
    for shape in ("identifier", "alias", "extended", "unnamed", "null"):
        hosted.hosts_answer(shape=shape)
        answer = hosted.ask(hosting)
        assert isinstance(answer, LocalAnswer), (shape, answer)
        assert answer.served_model == hosting.name
    for shape in ("served", "lmi", "/opt/ml/model", other.name):
        hosted.hosts_answer(shape=shape)
        assert reason_of(hosted.ask(hosting)) == Reason.ANOTHER_VERSION, shape
    reasons = {
        424: Reason.NOT_READY,
        503: Reason.NOT_READY,
        429: Reason.BUSY,
        400: Reason.REFUSED,
        500: Reason.FAILED,
    }
    for status, reason in reasons.items():
        hosted.hosts_answer(status=status)
        assert reason_of(hosted.ask(hosting)) == reason, status


def test_an_archive_that_lmi_does_not_load_is_given_up(hosted):
    archives = (
        {"adapter_config.json": '{"r": 16}'},
        {**ADAPTER, "adapter_config.json": '{"r": 32}'},
        {f"adapter/{name}": content for name, content in ADAPTER.items()},
        {**ADAPTER, "model.py": ""},
    )
    wanted = [hosted.wanted(f"{at}-aa", files=files) for at, files in enumerate(archives)]
    for _ in range(5):
        for one in wanted:
            hosted.hostings.want(one)
        hosted.sweep()
    assert [hosted.hostings.want(one).error for one in wanted] == ["failed"] * len(archives)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPTION_ENABLE_LORA", None),
        ("OPTION_ASYNC_MODE", "false"),
        ("OPTION_ROLLING_BATCH", "vllm"),
        ("OPTION_ENTRYPOINT", None),
        ("OPTION_MAX_LORA_RANK", "12"),
        ("OPTION_MAX_MODEL_LEN", None),
        ("HF_MODEL_ID", "org/model"),
    ],
)
def test_a_host_of_adapters_starts_with_all_that_lmi_needs_alone(tmp_path, name, value):
    (tmp_path / "config.json").write_text("{}")
    base = Hosting(
        name="autotune-apt-1-base",
        kind="base",
        task_id="apt_1",
        artifact="s3://models/bases/small/",
        instance_type="ml.g5.xlarge",
        rank=16,
        idle_minutes=30,
        since=datetime.now(UTC),
        due_at=datetime.now(UTC),
    )
    environment = environment_of(base) | {"HF_MODEL_ID": str(tmp_path)}
    assert environment_fault(environment) is None
    changed = {**environment, name: value}
    assert name in str(environment_fault({key: one for key, one in changed.items() if one}))


def test_what_instances_cost_is_counted_once_by_day(hosted):
    hosted.advancing.prices = InstancePrices(usd={"ml.g5.xlarge": "0.36"})
    began = hosted.clock.now()
    first = hosted.ready("1-aa", number=1)
    for _ in range(3):
        hosted.sweep(minutes=20)
        hosted.ask(first)
    base = hosted.base_of(first)
    hosted.advancing.look(base)
    hosted.advancing.look(base)  # one that is late counts nothing again
    spent = sum_of(hosted)
    assert (hosted.clock.now() - began).total_seconds() >= spent.seconds > 3 * 1_200
    assert spent.nano_usd == spent.seconds * 100_000

    hosted.sweep(minutes=31)
    hosted.sweep()
    hosted.sweep()
    assert hosted.base_of(first).state == "asleep"
    asleep = sum_of(hosted)
    assert asleep.nano_usd > spent.nano_usd
    hosted.sweep(hours=30)
    assert sum_of(hosted) == asleep

    # A price that is not known is not 0, and what is counted goes with the task.
    hosted.advancing.prices = InstancePrices(usd={})
    hosted.ask(first)
    for _ in range(3):
        hosted.sweep()
    woken = sum_of(hosted)
    assert woken.unpriced_seconds > 0
    assert woken.nano_usd == asleep.nano_usd
    hosted.table.delete(hosted.task_id, "configuration#000001")
    hosted.sweep(hours=2)
    for _ in range(6):
        hosted.sweep()
    hosted.sweep(hours=25)
    assert list(hosted.table.items(f"{hosted.task_id}#hosting")) == []


def sum_of(hosted):
    days = hosted.repository.costs(hosted.task_id, "2000-01-01", "2100-01-01").values()
    return HostingDay(*map(sum, zip(*days, strict=True)))


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


@pytest.mark.parametrize("kind", [Kind.CAPACITY, Kind.RESOURCE_LIMIT])
def test_the_next_type_of_instance_is_tried_where_one_is_not_to_be_had(hosted, kind):
    hosted.advancing.prices = InstancePrices(usd={FIRST: "0.36", SECOND: "0.72"})
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


def test_a_base_whose_copy_is_gone_is_charged_no_more_and_gets_another_once_asked(hosted):
    hosting = hosted.ready("1-aa", number=1)
    hosted.sweep(minutes=6)
    counted = sum_of(hosted).seconds
    assert counted > 300

    # Nobody asks: it sleeps, long before it would be silent for half an hour.
    without_copies(hosted, hosting.base)
    for _ in range(2):
        hosted.sweep(minutes=6)
    assert hosted.base_of(hosting).state == "asleep"
    assert sum_of(hosted).seconds == counted
    for _ in range(3):
        hosted.ask(hosting)
        hosted.sweep()
    assert isinstance(hosted.ask(hosting), LocalAnswer)

    # Somebody asks: it gets another one, and the time without is nobody's.
    hosted.sweep(minutes=6)
    counted = sum_of(hosted).seconds
    without_copies(hosted, hosting.base)
    hosted.clock.turn(minutes=20)
    assert reason_of(hosted.ask(hosting)) == Reason.NOT_READY
    for _ in range(2):
        hosted.sweep()
    assert isinstance(hosted.ask(hosting), LocalAnswer)
    assert sum_of(hosted).seconds - counted <= 120


def without_copies(hosted, base):
    """Have SageMaker have no copy of a base, though nobody here asked for that."""
    hosted.lab.sagemaker.update_inference_component_runtime_config(
        InferenceComponentName=base, DesiredRuntimeConfig={"CopyCount": 0}
    )
    until(lambda: not hosted.under_way())


def test_what_is_gone_while_it_answers_is_seen_and_charged_no_more(hosted, caplog):
    hosted.advancing.prices = InstancePrices(usd={"ml.g5.xlarge": "0.36"})
    first, second = hosted.ready("1-aa", number=1), hosted.ready("2-bb", number=2)
    hosted.sweep(minutes=6)
    gone(hosted, second.name)
    assert isinstance(hosted.ask(first), LocalAnswer)
    assert isinstance(hosted.ask(second), Unavailable)
    for _ in range(4):
        hosted.sweep()
    found = hosted.repository.find(hosted.task_id, second.name)
    assert (found.state, found.error) == ("gone", "lost")
    assert hosted.state(first) == "ready"

    caplog.clear()
    gone(hosted, first.name)
    gone(hosted, first.base)
    seen, counted = hosted.clock.now(), sum_of(hosted).seconds
    for _ in range(5):
        assert isinstance(hosted.ask(first), Unavailable)
        hosted.sweep(minutes=2)
    base = hosted.base_of(first)
    assert (base.state, base.error) == ("gone", "lost")
    assert hosted.state(first) == "gone"
    assert STUCK_MESSAGE in caplog.text
    assert hosted.there() == set()
    assert base.since < seen + timedelta(minutes=20)
    assert sum_of(hosted).seconds - counted == 0

    # Nobody asks: nothing is made, and nothing is forgotten.
    hosted.sweep(hours=30)
    assert hosted.there() == set()
    assert (hosted.state(first), hosted.state(second)) == ("gone", "gone")
    hosted.retire(second, 2)
    # Its archive is kept, so whoever asks has it made again, of the same name and content.
    asked_again(hosted, first)
    assert isinstance(hosted.ask(first), LocalAnswer)
    assert second.name not in hosted.there()
    assert hosted.base_of(first).error is None

    # The next time it takes longer.
    gone(hosted, first.name)
    hosted.ask(first)
    for _ in range(4):
        hosted.sweep()
    assert hosted.state(first) == "gone"
    hosted.sweep(minutes=16)
    asked_again(hosted, first)
    assert hosted.state(first) == "gone"
    hosted.sweep(minutes=15)
    asked_again(hosted, first)
    assert isinstance(hosted.ask(first), LocalAnswer)


def asked_again(hosted, hosting):
    """Have somebody ask what is gone, and the sweeper look some times."""
    assert isinstance(hosted.ask(hosting), Unavailable)
    for _ in range(10):
        hosted.sweep(seconds=30)


def gone(hosted, name):
    """Have somebody else delete a component."""
    hosted.lab.sagemaker.delete_inference_component(InferenceComponentName=name)
    until(lambda: not hosted.under_way())


def test_a_base_that_answers_nobody_for_half_an_hour_is_stuck(hosted, caplog):
    hosting = hosted.ready("1-aa", number=1)
    hosted.hosts_answer(status=503)
    for _ in range(5):
        assert reason_of(hosted.ask(hosting)) == Reason.NOT_READY
        hosted.sweep(minutes=5)
    # One answer, and it begins anew.
    hosted.hosts_answer()
    assert isinstance(hosted.ask(hosting), LocalAnswer)
    hosted.hosts_answer(status=503)
    for _ in range(6):
        hosted.sweep(minutes=5)
        assert reason_of(hosted.ask(hosting)) == Reason.NOT_READY
    assert hosted.base_of(hosting).state == "ready"
    assert STUCK_MESSAGE not in caplog.text
    for _ in range(3):
        hosted.sweep(minutes=5)
        hosted.ask(hosting)
    assert hosted.base_of(hosting).error == "stuck"
    assert STUCK_MESSAGE in caplog.text


def test_one_that_cannot_be_read_holds_up_no_other(hosted):
    hosting = hosted.want("1-aa")
    item = hosted.table.get(f"{hosted.task_id}#hosting", f"host#{hosting.name}")
    due_at = "2020" + item["due_at"][4:]
    broken = {**item, "pk": "apt_other#hosting", "due_at": due_at, "state": "unheard of"}
    hosted.table.put(broken)
    with pytest.raises(ValidationError):
        hosted.sweep()
    assert hosted.base_of(hosting).created


def test_one_that_cannot_be_read_ends_the_looks_of_no_other_of_its_task(hosted):
    first, second = hosted.ready("1-aa", number=1), hosted.ready("2-bb", number=2)
    key = (f"{hosted.task_id}#hosting", f"host#{first.name}")
    item = hosted.table.get(*key)
    hosted.table.put({**item, "state": "unheard of", "due_at": "2020" + item["due_at"][4:]})

    def failing(**passes):
        with pytest.raises(ValidationError):
            hosted.sweep(**passes)

    # Its base sleeps, wakes and answers for the other.
    failing(minutes=31)
    failing()
    assert hosted.base_of(second).state == "asleep"
    for _ in range(3):
        hosted.ask(second)
        failing()
    assert isinstance(hosted.ask(second), LocalAnswer)

    # The other goes, and the base stays for what may be there.
    hosted.retire(second, 2)
    failing(hours=25)
    for _ in range(3):
        failing()
    assert hosted.state(second) == "gone"
    assert hosted.base_of(second).state != "gone"
    assert first.name in hosted.there()

    # Whoever deletes the task marks all of it, and what can be read goes on from there.
    hosted.repository.end(hosted.task_id, hosted.clock.now())
    assert hosted.table.get(*key)["unwanted_at"]
    hosted.table.put(hosted.table.get(*key) | {"state": "ready"})
    for _ in range(6):
        hosted.sweep()
    assert hosted.there() == set()


def test_what_somebody_took_down_is_not_made_again(hosted):
    base = hosted.base_of(hosted.want("1-aa"))
    hosted.advancing.look(base)
    hosted.lab.settled(base.name)
    assert teardown("--yes")[0] == 0
    for _ in range(3):
        hosted.sweep()
    assert hosted.want("1-aa").error == "refused"
    assert hosted.there() == set()


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
