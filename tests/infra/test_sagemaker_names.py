"""Two stacks of one account: what one may do at SageMaker is to nothing of the other."""

import json
from fnmatch import fnmatchcase

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.apprentice.hosting.models import WantedBase, base_name_of, name_of
from autotune_platform.apprentice.training.jobs import job_name
from infra import application
from infra.sagemaker_names import MOST_STACK_CHARACTERS, hosted_names, job_names
from tests.infra.conftest import SERVICE_STACK_NAME
from tests.support.permissions import listed

# One name begins with the other.
OTHER = "autotune-test"
HOSTED = ("endpoint", "inference-component", "endpoint-config", "model")


@pytest.fixture(scope="module")
def other(synthesize, tmp_path_factory):
    """The templates of a stack that has another name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(application, "SERVICE_STACK_NAME", OTHER)
        patch.setattr(application, "DATA_STACK_NAME", f"{OTHER}-data")
        made = synthesize("aws", tmp_path_factory.mktemp("other"))
    return [json.loads(file.read_text()) for file in made.assembly.glob("*.template.json")]


def granted(templates):
    """Return what follows the account in each resource at SageMaker that is granted."""
    return {
        json.dumps(resource).rpartition(":")[2].rstrip('"]}')
        for template in templates
        for each in template["Resources"].values()
        if each["Type"] == "AWS::IAM::Policy"
        for statement in each["Properties"]["PolicyDocument"]["Statement"]
        if any(action.startswith("sagemaker:") for action in listed(statement["Action"]))
        for resource in listed(statement["Resource"])
    }


def made_by(stack):
    """Return what a stack makes at SageMaker, with names as long as they get."""
    task = new_id("apt")
    base = WantedBase("s3://bucket/base/", "ml.g5.xlarge", 16)
    hosted = (name_of(stack, f"{task}-1000-{'0' * 12}"), base_name_of(stack, task, base))
    return [
        f"training-job/{job_name(stack, new_id('trn'), 9_999)}",
        *(f"{kind}/{name}" for kind in HOSTED for name in hosted),
    ]


def test_a_stack_may_do_things_to_its_own_alone(aws, other):
    grants = {SERVICE_STACK_NAME: granted(aws.templates.values()), OTHER: granted(other)}
    for stack, patterns in grants.items():
        assert len(patterns) == 1 + len(HOSTED), patterns
        for made in grants:
            for name in made_by(made):
                may = [one for one in patterns if fnmatchcase(name, one)]
                assert bool(may) == (made == stack), (stack, name, may)


def test_jobs_are_named_after_the_stack_that_has_them(aws, other):
    prefixes = {
        each["Properties"]["Environment"]["Variables"].get("TRAINING_PREFIX")
        for template in other
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Lambda::Function" and "Environment" in each["Properties"]
    }
    assert prefixes == {None, OTHER}
    variables = aws.functions()["TrainOnSageMaker"]["Environment"]["Variables"]
    assert variables["TRAINING_PREFIX"] == SERVICE_STACK_NAME


@pytest.mark.parametrize("stack", ["one-trn", "one-apt", "one-trn-two", "one-apt-two"])
def test_a_stack_whose_names_are_among_those_of_another_is_refused(stack):
    others = [job_names("one"), *(hosted_names("one", kind) for kind in HOSTED)]
    assert any(fnmatchcase(name, pattern) for name in made_by(stack) for pattern in others)
    for names in (job_names, lambda one: hosted_names(one, "model")):
        with pytest.raises(ValueError, match="a stack called one could change"):
            names(stack)


@pytest.mark.parametrize("stack", ["one", "one-two", "one-trnx", "one-aptly", "trn", "apt-one"])
def test_names_of_other_stacks_are_apart(stack):
    others = ["on", "one", "one-two", "one-trnx", "one-aptly", "trn", "apt-one", "apt", "one-t"]
    for other in set(others) - {stack}:
        patterns = [job_names(other), *(hosted_names(other, kind) for kind in HOSTED)]
        found = [n for n in made_by(stack) for one in patterns if fnmatchcase(n, one)]
        assert found == [], other


def test_a_stack_whose_names_would_be_too_long_for_sagemaker_is_refused():
    stack = "s" * MOST_STACK_CHARACTERS
    assert max(len(name.rpartition("/")[2]) for name in made_by(stack)) == 63
    assert job_names(stack) == f"training-job/{stack}-trn-*"
    with pytest.raises(ValueError, match="more than 63"):
        made_by(f"{stack}s")
    for names in (job_names, lambda one: hosted_names(one, "model")):
        with pytest.raises(ValueError, match="more than 14 characters"):
            names(f"{stack}s")
