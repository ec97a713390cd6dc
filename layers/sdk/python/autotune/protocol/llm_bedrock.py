"""Amazon Bedrock on the wire: a role to assume and a bucket, in place of a key and an address."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol.types import RequestModel, ResponseModel

MIN_JOB_HOURS, MAX_JOB_HOURS = 24, 168
ROLE_NAMES = "autotune-bedrock"
"""What the name of a role begins with that Autotune may assume."""

# Bedrock is in these two partitions; a role cannot be assumed from another one.
_ROLE = r"^arn:aws(-us-gov)?:iam::[0-9]{12}:role/"


class BedrockSettings(RequestModel):
    """Where Bedrock is called, and by which role of its owner's account.

    Attributes:
        region: such as ``us-east-1``; the bucket is there too.
        role_arn: the role that Autotune assumes, whose trust policy demands the ``externalId`` of
            the answer; its name begins with ``autotune-bedrock``.
        batch_role_arn: the role that Bedrock itself works on batch jobs with; of the same account.
        bucket: where inputs and results of batch jobs are, in the same account.
        prefix: what the names of all objects begin with there.
        job_hours: after which a job times out.
    """

    region: Annotated[
        str, StringConstraints(pattern=r"^(us|us-gov|eu|ap|ca|sa|me|af|il|mx)-[a-z]{4,9}-[1-9]$")
    ]
    role_arn: Annotated[
        str, StringConstraints(pattern=_ROLE + ROLE_NAMES + r"[A-Za-z0-9+=,.@_-]{0,48}$")
    ]
    batch_role_arn: (
        Annotated[str, StringConstraints(pattern=_ROLE + r"[A-Za-z0-9+=,.@_/-]{1,500}$")] | None
    ) = None
    bucket: (
        Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")] | None
    ) = None
    prefix: Annotated[
        str, StringConstraints(max_length=200, pattern=r"^([A-Za-z0-9][A-Za-z0-9_.-]*/)*$")
    ] = "autotune/"
    job_hours: Annotated[int, Field(ge=MIN_JOB_HOURS, le=MAX_JOB_HOURS)] = MIN_JOB_HOURS

    @model_validator(mode="after")
    def _one_account(self) -> Self:
        if (self.bucket is None) != (self.batch_role_arn is None):
            raise ValueError("bucket and batchRoleArn belong together")
        if self.batch_role_arn and _account(self.batch_role_arn) != _account(self.role_arn):
            raise ValueError("batchRoleArn must be of the account of roleArn")
        return self


class BedrockAccess(ResponseModel):
    """How Bedrock is called.

    Attributes:
        external_id: what ``sts:ExternalId`` has to be in the trust policy of the role; it is the
            organisation's own.
    """

    region: str
    role_arn: str
    external_id: str
    batch_role_arn: str | None = None
    bucket: str | None = None
    prefix: str
    job_hours: int


def _account(role_arn: str) -> list[str]:
    """Return partition and account of a role."""
    return role_arn.split(":")[1:5]
