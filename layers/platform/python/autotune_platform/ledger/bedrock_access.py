"""How a connection calls Amazon Bedrock, which has no key and no address of its own."""

from autotune_platform.runtime.frozen_model import FrozenModel


def bedrock_url(region: str) -> str:
    """Return where Bedrock answers single calls in a region."""
    return f"https://bedrock-runtime.{region}.amazonaws.com"


class BedrockAccess(FrozenModel):
    """How a connection calls Bedrock: in which region, and by which roles of its owner's account.

    ``bucket`` and ``batch_role_arn`` are of batch jobs; without them there are none.
    """

    region: str
    role_arn: str
    external_id: str
    batch_role_arn: str | None = None
    bucket: str | None = None
    prefix: str
    job_hours: int

    @property
    def partition(self) -> str:
        """The part of AWS that the account is in."""
        return self.role_arn.split(":")[1]

    @property
    def account(self) -> str:
        """The account of the roles and of the bucket."""
        return self.role_arn.split(":")[4]
