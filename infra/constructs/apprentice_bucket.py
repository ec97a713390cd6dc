"""The bucket for data sets that small models are trained from, and for the models."""

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.customer_keys import DataKey
from infra.constructs.private_bucket import PrivateBucket

APPRENTICE_PREFIX = "apprentice/"
DATA = "data/*"
MODELS = "models/*"
DATA_DAYS = 30


class ApprenticeBucket(PrivateBucket):
    """Without versions: what is deleted is gone. Data sets, which hold copies of texts, expire."""

    def __init__(
        self, scope: Construct, construct_id: str, *, key: DataKey, keeps_data: bool
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            key=key,
            keeps_data=keeps_data,
            prefix=APPRENTICE_PREFIX,
            versioned=False,
            names=(DATA, MODELS),
            why_no_access_log=(
                "Only the functions' roles can read or write objects, each API call is logged "
                "at the API stage, and an access log bucket would itself hold ids of tasks "
                "that outlive their deletion."
            ),
            why_objects_are_a_wildcard=(
                "Objects are named by ids of tasks that are not known at deployment; the wildcard "
                "is limited to data sets, or to models, in this one bucket."
            ),
        )
        self.bucket.add_lifecycle_rule(
            prefix=f"{APPRENTICE_PREFIX}data/", expiration=Duration.days(DATA_DAYS)
        )

    def grant_read(self, grantee: iam.IGrantable, *, names: str) -> None:
        """Lets a function read data sets, or models.

        Args:
            grantee: The function or role.
            names: ``DATA`` or ``MODELS``.
        """
        self._grant_objects(grantee, actions=["s3:GetObject"], names=names)
        self._key.grant_use_via(grantee, service="s3")
        self._grant_list(grantee)

    def grant_put(self, grantee: iam.IGrantable, *, names: str) -> None:
        """Lets a function store data sets, or models; ``names`` as for ``grant_read``."""
        self._grant_objects(grantee, actions=["s3:PutObject"], names=names)
        self._key.grant_use_via(grantee, service="s3", writes=True)

    def grant_delete(self, grantee: iam.IGrantable, *, names: str) -> None:
        """Lets a function find and delete data sets, or models, and see none of them."""
        self._grant_objects(grantee, actions=["s3:DeleteObject"], names=names)
        self._grant_list(grantee)
