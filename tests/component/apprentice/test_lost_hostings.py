"""What is gone although nobody here took it down, answers nobody, or cannot be read."""

from datetime import timedelta

import pytest
from pydantic import ValidationError

from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason, Unavailable
from autotune_platform.runtime.errors import UnavailableError
from local.sagemaker.faults import Kind
from tests.support.hostings import BASE, reason_of, sum_of, teardown
from tests.support.local_sagemaker import until


def test_what_is_gone_while_it_answers_is_seen_and_charged_no_more(hosted, caplog):
    hosted.advancing.steps.prices = InstancePrices(usd={"ml.g5.xlarge": "0.36"})
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
    for _ in range(5):
        hosted.sweep()
    assert hosted.want("1-aa").error == "refused"
    assert hosted.there() == set()


def test_what_sagemaker_does_not_answer_for_is_behind_what_is_due(hosted):
    first, second = hosted.want("1-aa"), hosted.want("2-bb", base=BASE._replace(rank=32))
    hosted.clock.turn(minutes=1)
    hosted.lab.plant(Kind.THROTTLING, operation="*", name=first.base, times=1_000)
    hosted.sweep()
    due = {one.name: one.due_at for one in hosted.repository.of_task(hosted.task_id)}
    assert due[first.base] > hosted.clock.now() + timedelta(seconds=29)
    hosted.lab.faults.clear()
    hosted.sweep()
    assert hosted.base_of(first).created
    assert hosted.base_of(second).state == "ready"


def test_a_configuration_that_is_not_deleted_is_not_left_behind(hosted):
    hosting = hosted.ready("1-aa", number=1)
    hosted.retire(hosting, 1)
    hosted.lab.plant(Kind.REFUSED, operation="DeleteEndpointConfig", times=2)
    hosted.sweep(hours=25)
    for _ in range(8):
        hosted.sweep()
    assert hosted.state(hosted.base_of(hosting)) == "gone"
    assert hosted.there() == set()


def test_what_sagemaker_does_not_answer_for_in_half_an_hour_is_alarmed(hosted, caplog):
    hosting = hosted.want("1-aa")
    hosted.lab.plant(Kind.THROTTLING, operation="*", name=hosting.base, times=1_000)
    hosted.sweep(minutes=29)
    assert STUCK_MESSAGE not in caplog.text
    hosted.sweep(minutes=2)
    assert STUCK_MESSAGE in caplog.text
    assert hosted.base_of(hosting).state == "creating"


def test_a_look_that_fails_at_a_base_without_an_instance_is_not_alarmed(
    hosted, caplog, monkeypatch
):
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint", times=1_000)
    hosting = hosted.want("1-aa")
    for _ in range(8):  # an endpoint may still be there at the look that has it deleted
        hosted.sweep()
        base = hosted.base_of(hosting)
        if (base.state, base.created) == ("waiting", ()):
            break
    assert (base.state, base.created) == ("waiting", ())

    def busy(task_id):
        raise UnavailableError("DynamoDB is busy")

    def late(of):
        hosted.clock.turn(minutes=1)
        return of.model_copy(update={"since": of.since - timedelta(minutes=31)})

    def swept(waiting):
        with monkeypatch.context() as patched:
            patched.setattr(hosted.advancing.tasks, "latest", busy)
            patched.setattr(hosted.advancing.repository, "read", lambda _: waiting)
            patched.setattr(hosted.advancing.repository, "due", lambda *_, **__: iter([item]))
            hosted.sweep()

    item = hosted.table.get(f"{hosted.task_id}#hosting", f"host#{base.name}")
    swept(late(base))
    assert "hosting not looked at" in caplog.text
    assert STUCK_MESSAGE not in caplog.text
    # What was made of it is still there, and costs.
    swept(late(base.with_part("endpoint", base.since)))
    assert STUCK_MESSAGE in caplog.text


@pytest.mark.parametrize(
    ("of", "created", "minutes", "is_told"),
    [
        ("adapter", (), 31, False),
        ("adapter", ("component",), 31, True),
        ("base", ("endpoint",), 31, True),
        ("base", ("endpoint", "component"), 44, False),
        ("base", ("endpoint", "component"), 46, True),
    ],
)
def test_a_look_that_fails_at_what_may_take_longer_is_not_alarmed(
    hosted, caplog, monkeypatch, of, created, minutes, is_told
):
    """An adapter waits for its base for a day, and a base has as long as SageMaker lets it load."""
    adapter = hosted.want("1-aa")
    found = adapter if of == "adapter" else hosted.base_of(adapter)
    known = found.model_copy(update={"created": created})

    def busy(_):
        raise UnavailableError("DynamoDB is busy")

    hosted.clock.turn(minutes=minutes)
    item = hosted.table.get(f"{hosted.task_id}#hosting", f"host#{found.name}")
    monkeypatch.setattr(hosted.advancing, "look", busy)
    monkeypatch.setattr(hosted.advancing.repository, "read", lambda _: known)
    monkeypatch.setattr(hosted.advancing.repository, "due", lambda *_, **__: iter([item]))
    hosted.sweep(seconds=1)
    assert "hosting not looked at" in caplog.messages
    assert (STUCK_MESSAGE in caplog.messages) is is_told


def test_an_adapter_that_sagemaker_does_not_answer_for_is_alarmed_though_its_base_is_there(
    hosted, caplog, monkeypatch
):
    """As where a right is missing: its training waits for it, and holds up the next one."""
    first, second = hosted.ready("1-aa", number=1), hosted.want("2-bb")
    hosts, component = hosted.advancing.hosts, hosted.advancing.hosts.component

    def refused(hosting):
        if hosting.name == second.name:
            raise UnavailableError("SageMaker: describe_inference_component: AccessDeniedException")
        return component(hosting)

    monkeypatch.setattr(hosts, "component", refused)
    for _ in range(3):
        assert isinstance(hosted.ask(first), LocalAnswer)
        hosted.sweep(minutes=11)
    assert hosted.want("2-bb").state == "creating"
    assert caplog.messages.count("hosting not looked at") == 3
    assert caplog.messages.count(STUCK_MESSAGE) == 1
