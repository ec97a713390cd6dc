"""The local SageMaker and moto's: the same calls, the same members, but for what is listed here.

moto's server answers by the code that is called here in process. Where it does another thing, the
test holds that it still does: once it does no more, the exception can go.
"""

from contextlib import closing
from typing import Any

import boto3
import pytest

from local.endpoint import REGION
from tests.support.local_sagemaker import until
from tests.support.sagemaker_tour import Answers, Tour

_NOT_THERE = "The {} action has not been implemented"
# What moto does instead, where it does not do it faithfully.
EXCEPTIONS: dict[str, Any] = {
    "CreateTrainingJob, its name taken": {"TrainingJobArn"},  # the job is replaced
    "CreateModel, its name taken": {"ModelArn"},
    "CreateEndpointConfig, its name taken": {"EndpointConfigArn"},
    "CreateEndpoint, its name taken": {"EndpointArn"},
    "CreateEndpointConfig, ml.g6": "ValidationException",  # it knows older instances only
    "InvokeEndpoint, missing": {
        *("Body", "ContentType", "CustomAttributes", "InvokedProductionVariant"),
    },
    "StopTrainingJob, ended": _NOT_THERE.format("stop_training_job"),
    "UpdateEndpoint": _NOT_THERE.format("update_endpoint"),
    "CreateEndpointConfig, of components": "'ModelName'",  # a KeyError
    "CreateEndpoint, of components": "ValidationException",
    "CreateInferenceComponent": _NOT_THERE.format("create_inference_component"),
    "DescribeInferenceComponent": _NOT_THERE.format("describe_inference_component"),
    "ListInferenceComponents": _NOT_THERE.format("list_inference_components"),
    "UpdateInferenceComponent": _NOT_THERE.format("update_inference_component"),
    "UpdateInferenceComponentRuntimeConfig": _NOT_THERE.format(
        "update_inference_component_runtime_config"
    ),
    "DeleteInferenceComponent": _NOT_THERE.format("delete_inference_component"),
}
# Members that one of them has alone, by the path to them.
ONLY_HERE = {
    "DescribeTrainingJob": {"BillableTimeInSeconds", "TrainingTimeInSeconds"},
    "ListTrainingJobs": {"TrainingJobSummaries.SecondaryStatus"},
    "DescribeEndpoint": {"ProductionVariants.DeployedImages"},
}
# moto invents them, or answers null for what was never given.
ONLY_THERE = {
    "DescribeModel": {"Containers", "VpcConfig"},
    "DescribeEndpointConfig": {"DataCaptureConfig"},
    "DescribeEndpoint": {"DataCaptureConfig"},
    "InvokeEndpoint": {"CustomAttributes"},
}


@pytest.fixture(scope="module")
def both(lab) -> tuple[Answers, Answers]:
    session = boto3.Session("test", "test", region_name=REGION)
    ours = Tour(lab, lab.sagemaker, lab.runtime, settle=until).all_of_it()
    with (
        closing(session.client("sagemaker")) as sagemaker,
        closing(session.client("sagemaker-runtime")) as runtime,
    ):
        return ours, Tour(lab, sagemaker, runtime, settle=lambda _: None).all_of_it()


def test_every_call_is_compared(both):
    ours, theirs = both
    assert ours.keys() == theirs.keys()
    assert {*EXCEPTIONS, *ONLY_HERE, *ONLY_THERE} <= ours.keys()


def test_shapes_are_the_same_but_for_what_is_listed(both):
    ours, theirs = both
    for label in ours.keys() - EXCEPTIONS.keys():
        here, there = members(ours[label]), members(theirs[label])
        assert outermost(here - there) == ONLY_HERE.get(label, set()), label
        assert outermost(there - here) == ONLY_THERE.get(label, set()), label
        assert kinds(ours[label], here & there) == kinds(theirs[label], here & there), label


def test_moto_still_does_what_is_listed(both):
    ours, theirs = both
    for label, expected in EXCEPTIONS.items():
        found = theirs[label]
        assert (found if isinstance(found, str) else {*found}) == expected, label
        assert ours[label] != theirs[label], label


def members(answer: Any, path: str = "") -> set[str]:
    """Return the paths of all members; those of a list are of its first item."""
    if isinstance(answer, str) and not path:
        return {answer}  # the code of an error
    if isinstance(answer, list):
        return members(answer[0], path) if answer else set()
    if not isinstance(answer, dict):
        return set()
    found = set()
    for name, value in answer.items():
        inner = f"{path}.{name}" if path else name
        found |= {inner} | members(value, inner)
    return found


def outermost(paths: set[str]) -> set[str]:
    """Return those whose parent is not among them."""
    return {path for path in paths if path.rpartition(".")[0] not in paths}


def kinds(answer: Any, paths: set[str]) -> dict[str, str]:
    """Return the types of members that both have."""
    return {path: kind_of(answer, path.split(".")) for path in paths}


def kind_of(answer: Any, path: list[str]) -> str:
    for name in path:
        if isinstance(answer, str):
            break
        answer = (answer[0] if isinstance(answer, list) else answer)[name]
    return type(answer).__name__
