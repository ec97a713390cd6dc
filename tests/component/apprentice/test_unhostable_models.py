"""What SageMaker does not take whatever the instance, and what is there under a base's name."""

from dataclasses import replace

import pytest

from autotune_platform.apprentice.hosting.models import ENDPOINT
from autotune_platform.apprentice.training.unhosted import why_not_hosted
from local.sagemaker.faults import Kind
from tests.support.hostings import BOTH, FIRST, SECOND, teardown, training_on
from tests.support.local_sagemaker import until

NOBODY = "nobody-who-could-host-anything"


def test_a_model_that_sagemaker_does_not_take_pays_for_no_instance(hosted, monkeypatch):
    hosts = hosted.advancing.hosts
    hosting = hosted.want("1-aa", base=BOTH)
    there = set()
    with monkeypatch.context() as patched:
        patched.setattr(hosts, "settings", replace(hosts.settings, role_arn=NOBODY))
        for _ in range(8):
            hosted.sweep()
            there |= hosted.there()
    assert there == set()
    assert hosted.want("1-aa", base=BOTH).error == "refused"
    base = hosted.base_of(hosting)
    assert (base.state, base.error, base.lacking) == ("gone", "refused", None)
    assert NOBODY in base.refusal

    # Once that is mended, whoever wants one later has it hosted.
    hosted.sweep(hours=25)
    hosted.sweep()
    found = hosted.ready("2-bb", number=2, base=BOTH)
    assert (found.base, hosted.base_of(found).refusal) == (base.name, None)


def test_a_model_whose_name_is_free_a_moment_later_is_hosted(hosted):
    hosted.lab.plant(Kind.REFUSED, operation="CreateModel", times=2)
    hosting = hosted.ready("1-aa", number=1, base=BOTH)
    base = hosted.base_of(hosting)
    assert (base.instance_type, base.lacking, base.refusal) == (FIRST, None, None)


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_configuration_of_another_instance_is_not_used(hosted, is_ours):
    hosting = hosted.want("1-aa", base=BOTH)
    tags = [
        {"Key": "autotune:stack", "Value": "autotune"},
        {"Key": "autotune:task", "Value": hosted.task_id},
        {"Key": "autotune:hosting", "Value": hosting.base},
    ]
    hosted.lab.sagemaker.create_endpoint_config(
        EndpointConfigName=hosting.base,
        ExecutionRoleArn="arn:aws:iam::123456789012:role/hosts",
        ProductionVariants=[
            {"VariantName": "all", "InstanceType": SECOND, "InitialInstanceCount": 1}
        ],
        Tags=tags if is_ours else [],
    )
    for _ in range(8):
        hosted.want("1-aa", base=BOTH)
        hosted.sweep()
    found = hosted.want("1-aa", base=BOTH)
    if is_ours:
        config = hosted.lab.sagemaker.describe_endpoint_config(EndpointConfigName=hosting.base)
        assert config["ProductionVariants"][0]["InstanceType"] == FIRST
        assert (found.state, hosted.base_of(hosting).instance_type) == ("ready", FIRST)
    else:
        assert (found.error, hosted.base_of(hosting).error) == ("name_taken", "name_taken")
        assert hosted.there() == {hosting.base}


def test_what_is_taken_down_on_the_second_type_is_not_for_what_the_first_lacked(hosted):
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint")
    hosting = hosted.want("1-aa", base=BOTH)
    for _ in range(12):
        base = hosted.base_of(hosting)
        if base.instance_type == SECOND and ENDPOINT in base.created:
            break
        hosted.advancing.look(base)
        until(lambda: not hosted.under_way())
    assert base.lacking.lacks == {FIRST: "capacity"}
    assert teardown("--yes")[0] == 0
    for _ in range(5):
        hosted.sweep()
    found = hosted.want("1-aa", base=BOTH)
    assert found.error == "refused"
    assert why_not_hosted(found, hosted.base_of(hosting)) == ("not_hosted", "refused")


def test_a_type_that_was_refused_is_not_tried_again_as_the_last_one_of_another_list(hosted):
    hosted.configure(1, **training_on(FIRST, SECOND))
    hosted.lab.plant(Kind.REFUSED, operation="CreateEndpointConfig")
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint")
    hosting = hosted.want("1-aa", base=BOTH)
    for _ in range(8):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert (base.state, base.lacking.next) == ("waiting", SECOND)
    hosted.configure(2, **training_on(FIRST))
    hosted.sweep(minutes=20)
    for _ in range(4):
        hosted.sweep()
    base = hosted.base_of(hosting)
    assert (base.state, base.error, base.lacking.lacks) == ("gone", "refused", {FIRST: "refused"})
    assert hosted.want("1-aa", base=BOTH).error == "refused"
    assert hosted.there() == set()


@pytest.mark.parametrize(("trainings", "error"), [((1,) * 7, "no_capacity"), ((1, 2) * 3, None)])
def test_an_adapter_waits_no_longer_for_another_base(hosted, trainings, error):
    """Whose first type of instance is another one each time that its task is put.

    A training that takes over what waits already has as long as any.
    """
    hosted.lab.plant(Kind.CAPACITY, operation="CreateEndpoint", times=1_000)
    wanted, states = hosted.wanted("1-aa"), []
    for size, training in zip((2, 4, 8, 12, 16, 24, 48), (*trainings, 2), strict=False):
        other = BOTH._replace(instance_types=(f"ml.g6.{size}xlarge",))
        wanted = wanted._replace(base=other, training=training)
        states.append(hosted.hostings.want(wanted).state)
        hosted.sweep(hours=4, minutes=50)
        for _ in range(9):
            hosted.sweep()
    assert states[:6] == ["creating"] * 6
    assert hosted.hostings.want(wanted).error == error
    assert hosted.there() == set()
