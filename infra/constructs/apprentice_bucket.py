"""The bucket for what the apprentice is trained on, and for what comes of it."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.customer_keys import DataKey
from infra.constructs.private_bucket import PrivateBucket

APPRENTICE_PREFIX = "apprentice/"
MODELS = "apt_*/models/*"
DATA = "apt_*/data/*"
TRAIN_ROWS = "apt_*/data/*/train-*"
JOBS = "apt_*/jobs/*"
BASES = "bases/*"
EMBEDDINGS = "embeddings/*"
OF_TASKS = "apt_*"


class ApprenticeBucket(PrivateBucket):
    """Without versions: what is deleted is gone, and no model is ever written twice."""

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
            names=(MODELS, DATA, TRAIN_ROWS, JOBS, BASES, EMBEDDINGS, OF_TASKS),
            why_no_access_log=(
                "Only the functions' roles can read or write objects, each API call is logged "
                "at the API stage, and what was trained is known by its digest."
            ),
            why_objects_are_a_wildcard=(
                "Objects are named by ids of tasks that are not known at deployment; the "
                "wildcard is limited to one kind of them in this one bucket."
            ),
        )

    def grant_read(self, grantee: iam.IGrantable, *, names: str) -> None:
        """Lets a function read objects of one kind, such as ``MODELS``."""
        self._grant_objects(grantee, actions=["s3:GetObject"], names=names)
        self._key.grant_use_via(grantee, service="s3")
        self._grant_list(grantee)

    def grant_write(self, grantee: iam.IGrantable, *, names: str) -> None:
        """Lets a function write objects of one kind, and see none of them."""
        self._grant_objects(grantee, actions=["s3:PutObject"], names=names)
        self._key.grant_use_via(grantee, service="s3", writes=True)

    def grant_delete(self, grantee: iam.IGrantable, *, names: str = OF_TASKS) -> None:
        """Lets a function find files and delete those of one kind, and see none of them."""
        self._grant_objects(grantee, actions=["s3:DeleteObject"], names=names)
        self._grant_list(grantee)
