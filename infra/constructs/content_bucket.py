"""The bucket for prompts and responses that outgrow a table item."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.customer_keys import DataKey
from infra.constructs.private_bucket import PrivateBucket

CONTENT_PREFIX = "content/"
OF_COMPLETIONS = "cmp_*"
OF_DECKS = "dck_*"
OF_ALL = "*"


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
            names=(OF_COMPLETIONS, OF_DECKS, OF_ALL),
            why_no_access_log=(
                "Only the functions' roles can read or write objects, each API call is logged "
                "at the API stage, and an access log bucket would itself hold completion ids "
                "that outlive their retention period."
            ),
            why_objects_are_a_wildcard=(
                "Objects are named by ids of completions and decks that are not known at "
                "deployment; the wildcard is limited to one kind of them in this one bucket."
            ),
        )

    def grant_read(self, grantee: iam.IGrantable, *, names: str) -> None:
        """Lets a function read content.

        Args:
            grantee: The function or role.
            names: Of what it is; ``OF_COMPLETIONS``, ``OF_DECKS`` or ``OF_ALL``.
        """
        self._grant_objects(grantee, actions=["s3:GetObject"], names=names)
        self._key.grant_use_via(grantee, service="s3")
        self._grant_list(grantee)

    def grant_put(self, grantee: iam.IGrantable, *, names: str) -> None:
        """Lets a function store content, and see none of it; ``names`` as for ``grant_read``."""
        self._grant_objects(grantee, actions=["s3:PutObject"], names=names)
        self._key.grant_use_via(grantee, service="s3", writes=True)

    def grant_delete(self, grantee: iam.IGrantable, *, names: str, finds: bool = False) -> None:
        """Lets a function delete content, and see none of it.

        Args:
            grantee: The function or role.
            names: As for ``grant_read``.
            finds: Whether it also learns what there is, by name.
        """
        if finds:
            self._grant_list(grantee)
        self._grant_objects(grantee, actions=["s3:DeleteObject"], names=names)
