"""The bucket for prompts and responses that outgrow a table item."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.customer_keys import DataKey
from infra.constructs.private_bucket import PrivateBucket

CONTENT_PREFIX = "content/"


class ContentBucket(PrivateBucket):
    """Without versions: what is deleted is gone, as retention promises."""

    def __init__(
        self, scope: Construct, construct_id: str, *, key: DataKey, keeps_data: bool
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            key=key,
            keeps_data=keeps_data,
            prefix=CONTENT_PREFIX,
            versioned=False,
            why_no_access_log=(
                "Only the functions' roles can read or write objects, each API call is logged "
                "at the API stage, and an access log bucket would itself hold completion ids "
                "that outlive their retention period."
            ),
            why_objects_are_a_wildcard=(
                "Objects are named by completion ids that are not known at deployment; the "
                "wildcard is limited to the content prefix of this one bucket."
            ),
        )

    def grant_read(self, grantee: iam.IGrantable) -> None:
        """Lets a function read content."""
        self._grant_objects(grantee, actions=["s3:GetObject"])
        self._key.grant_use_via(grantee, service="s3")
        self._grant_list(grantee)

    def grant_put(self, grantee: iam.IGrantable) -> None:
        """Lets a function store content, and see none of it."""
        self._grant_objects(grantee, actions=["s3:PutObject"])
        self._key.grant_use_via(grantee, service="s3", writes=True)

    def grant_delete(self, grantee: iam.IGrantable, *, finds: bool = False) -> None:
        """Lets a function delete content, and see none of it.

        Args:
            grantee: The function or role.
            finds: Whether it also learns what there is, by name.
        """
        if finds:
            self._grant_list(grantee)
        objects = self.bucket.arn_for_objects(f"{CONTENT_PREFIX}*")
        iam.Grant.add_to_principal(
            grantee=grantee, actions=["s3:DeleteObject"], resource_arns=[objects]
        )
