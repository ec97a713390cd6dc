"""What SageMaker does not take whatever the instance, and what is there under a base's name."""

from dataclasses import replace

import pytest

from local.sagemaker.faults import Kind
from tests.support.hostings import BOTH, FIRST, SECOND

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
