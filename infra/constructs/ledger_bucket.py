"""The bucket for what language models are asked and answer, where that outgrows a table item."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.customer_keys import DataKey
from infra.constructs.private_bucket import PrivateBucket

LEDGER_PREFIX = "ledger/"


class LedgerBucket(PrivateBucket):
    """Without versions: what is deleted is gone, as retention promises."""

    def __init__(
        self, scope: Construct, construct_id: str, *, key: DataKey, keeps_data: bool
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            key=key,
            keeps_data=keeps_data,
            prefix=LEDGER_PREFIX,
            versioned=False,
            why_no_access_log=(
                "Only the functions' roles can read or write objects, each API call is logged "
                "at the API stage, and an access log bucket would itself hold ids of requests "
                "that outlive their retention period."
            ),
            why_objects_are_a_wildcard=(
                "Objects are named by ids of requests that are not known at deployment; the "
                "wildcard is limited to the ledger prefix of this one bucket."
            ),
        )

    def grant_read_write(self, grantee: iam.IGrantable) -> None:
        """Lets a function read and store texts."""
        self._grant_objects(grantee, actions=["s3:GetObject", "s3:PutObject"])
        self._key.grant_use_via(grantee, service="s3", writes=True)
        self._grant_list(grantee)

    def grant_read(self, grantee: iam.IGrantable) -> None:
        """Lets a function read texts."""
        self._grant_objects(grantee, actions=["s3:GetObject"])
        self._key.grant_use_via(grantee, service="s3")
        self._grant_list(grantee)

    def grant_put(self, grantee: iam.IGrantable) -> None:
        """Lets a function store texts, and see none of them."""
        self._grant_objects(grantee, actions=["s3:PutObject"])
        self._key.grant_use_via(grantee, service="s3", writes=True)

    def grant_delete(self, grantee: iam.IGrantable) -> None:
        """Lets a function delete texts."""
        self._grant_objects(grantee, actions=["s3:DeleteObject"])

    def grant_upload_in_parts(self, grantee: iam.IGrantable) -> None:
        """Lets a function that stores objects give up one that it sends in parts."""
        self._grant_objects(grantee, actions=["s3:AbortMultipartUpload"])
