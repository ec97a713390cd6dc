"""What the names of all begin with that a stack makes at SageMaker: permissions are limited to it.

Stacks of one account share SageMaker, and the name of one may begin with another's, as
``autotune-two`` does with ``autotune``: so the kind of an id follows the stack's name.
"""

from aws_cdk import Aws

MOST_STACK_CHARACTERS = 14
"""With more, names of versions and of jobs would have more than the 63 that SageMaker takes."""
JOBS = "training-job"
# Ids of trainings and of tasks, as the platform makes names of them.
_TRAININGS, _TASKS = "trn", "apt"


def job_names(stack: str) -> str:
    """Return what the ARNs of a stack's training jobs end with.

    Raises:
        ValueError: The stack's name is too long, or has the kind of an id in it.
    """
    return f"{JOBS}/{_checked(stack)}-{_TRAININGS}-*"


def hosted_names(stack: str, kind: str) -> str:
    """Return what the ARNs of a kind of things end with that host a stack's versions.

    Raises:
        ValueError: The stack's name is too long, or has the kind of an id in it.
    """
    return f"{kind}/{_checked(stack)}-{_TASKS}-*"


def arn_of(names: str) -> str:
    """Return the ARN of names at SageMaker, of this account and region."""
    return f"arn:{Aws.PARTITION}:sagemaker:{Aws.REGION}:{Aws.ACCOUNT_ID}:{names}"


def finding_of(names: str) -> str:
    """Return how cdk-nag calls a wildcard in that ARN."""
    arn = f"arn:<AWS::Partition>:sagemaker:<AWS::Region>:<AWS::AccountId>:{names}"
    return f"AwsSolutions-IAM5[Resource::{arn}]"


def _checked(stack: str) -> str:
    if len(stack) > MOST_STACK_CHARACTERS:
        raise ValueError(
            f"{stack} has more than {MOST_STACK_CHARACTERS} characters: names at SageMaker, which "
            "begin with the stack's, would be too long"
        )
    for kind in (_TRAININGS, _TASKS):
        if f"-{kind}-" in f"{stack}-":
            other = stack.partition(f"-{kind}")[0]
            raise ValueError(
                f"{stack} has -{kind} in it: a stack called {other} could change what it has at "
                "SageMaker"
            )
    return stack
