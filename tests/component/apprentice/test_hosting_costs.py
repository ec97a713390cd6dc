"""What instances cost, which is counted once, and while they are there."""

from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason
from tests.support.hostings import reason_of, sum_of
from tests.support.local_sagemaker import until


def test_what_instances_cost_is_counted_once_by_day(hosted):
    hosted.advancing.steps.prices = InstancePrices(usd={"ml.g5.xlarge": "0.36"})
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
    hosted.advancing.steps.prices = InstancePrices(usd={})
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
