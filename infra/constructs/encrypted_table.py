"""A DynamoDB table, encrypted with a customer key, recoverable and protected from deletion."""

from collections.abc import Sequence

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.constructs.customer_keys import DataKey
from infra.tables import Index, TableSchema

PARTITION_KEY = "pk"
SORT_KEY = "sk"
# Unix seconds; a text of this name, as a review and a reward URL have, removes nothing.
EXPIRY_ATTRIBUTE = "expires_at"

# No dynamodb:Scan anywhere: a request path that scans is refused, not slow.
READ_ACTIONS = (
    "dynamodb:BatchGetItem",
    "dynamodb:GetItem",
    "dynamodb:Query",
)
WRITE_ACTIONS = (
    "dynamodb:BatchWriteItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
)
# Single items, one at a time.
CHANGE_ACTIONS = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
# What finds items by their partition and writes them whole.
REPLACE_ACTIONS = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
FOLLOW_ACTIONS = (
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
)


class EncryptedTable(Construct):
    """Table with string keys ``pk`` and ``sk``, on demand, with point-in-time recovery.

    Args:
        schema: Its indexes, and whether it has a stream.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        schema: TableSchema,
        key: DataKey,
        keeps_data: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self._key = key
        self.table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=_string_attribute(PARTITION_KEY),
            sort_key=_string_attribute(SORT_KEY),
            billing=dynamodb.Billing.on_demand(),
            encryption=dynamodb.TableEncryptionV2.customer_managed_key(key.key),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=keeps_data,
            removal_policy=RemovalPolicy.RETAIN if keeps_data else RemovalPolicy.DESTROY,
            time_to_live_attribute=EXPIRY_ATTRIBUTE,
            dynamo_stream=dynamodb.StreamViewType.NEW_IMAGE if schema.has_stream else None,
            global_secondary_indexes=[_index(index) for index in schema.indexes],
        )

    def grant_read(self, grantee: iam.IGrantable) -> None:
        """Lets a function get items and query partitions of the table itself."""
        self._grant(grantee, actions=READ_ACTIONS, resource_arn=self.table.table_arn)
        self._key.grant_use_via(grantee, service="dynamodb")

    def grant_read_write(self, grantee: iam.IGrantable) -> None:
        """Lets a function read and write items of the table itself."""
        actions = (*READ_ACTIONS, *WRITE_ACTIONS)
        self._grant(grantee, actions=actions, resource_arn=self.table.table_arn)
        self._key.grant_use_via(grantee, service="dynamodb", writes=True)

    def grant_read_change(self, grantee: iam.IGrantable) -> None:
        """Lets a function read and conditionally write single items, and nothing in bulk."""
        self._grant(grantee, actions=CHANGE_ACTIONS, resource_arn=self.table.table_arn)
        self._key.grant_use_via(grantee, service="dynamodb", writes=True)

    def grant_query_replace(self, grantee: iam.IGrantable) -> None:
        """Lets a function query partitions, and read and put single items."""
        self._grant(grantee, actions=REPLACE_ACTIONS, resource_arn=self.table.table_arn)
        self._key.grant_use_via(grantee, service="dynamodb", writes=True)

    def grant_put(self, grantee: iam.IGrantable, *, keys: str) -> None:
        """Lets a function put single items whose partition key is like ``keys``."""
        self._grant_on_keys(grantee, action="dynamodb:PutItem", keys=keys)

    def grant_update(self, grantee: iam.IGrantable, *, keys: str) -> None:
        """Lets a function update single items whose partition key is like ``keys``."""
        self._grant_on_keys(grantee, action="dynamodb:UpdateItem", keys=keys)

    def grant_query(self, grantee: iam.IGrantable, *, keys: str) -> None:
        """Lets a function query partitions whose key is like ``keys``."""
        self._grant_on_keys(grantee, action="dynamodb:Query", keys=keys)

    def grant_delete(self, grantee: iam.IGrantable, *, keys: str) -> None:
        """Lets a function delete single items whose partition key is like ``keys``."""
        self._grant_on_keys(grantee, action="dynamodb:DeleteItem", keys=keys)

    def grant_count(self, grantee: iam.IGrantable) -> None:
        """Lets a function change attributes of single items, in transactions too, and no more."""
        self._grant(grantee, actions=("dynamodb:UpdateItem",), resource_arn=self.table.table_arn)
        self._key.grant_use_via(grantee, service="dynamodb", writes=True)

    def grant_query_index(self, grantee: iam.IGrantable, *, index_name: str) -> None:
        """Lets a function query one index."""
        arn = f"{self.table.table_arn}/index/{index_name}"
        self._grant(grantee, actions=("dynamodb:Query",), resource_arn=arn)
        self._key.grant_use_via(grantee, service="dynamodb")

    def grant_follow(self, grantee: iam.IGrantable) -> None:
        """Lets a function read the table's stream."""
        if self.table.table_stream_arn is None:
            raise ValueError("this table has no stream")
        self._grant(grantee, actions=FOLLOW_ACTIONS, resource_arn=self.table.table_stream_arn)
        self._key.grant_use_via(grantee, service="dynamodb")

    def _grant_on_keys(self, grantee: iam.IGrantable, *, action: str, keys: str) -> None:
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=[action],
            resource_arns=[self.table.table_arn],
            conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [keys]}},
        )
        self._key.grant_use_via(grantee, service="dynamodb", writes=True)

    def _grant(
        self, grantee: iam.IGrantable, *, actions: Sequence[str], resource_arn: str
    ) -> iam.Grant:
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=list(actions), resource_arns=[resource_arn]
        )


def _string_attribute(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _index(index: Index) -> dynamodb.GlobalSecondaryIndexPropsV2:
    whole = {"all": dynamodb.ProjectionType.ALL, "keys": dynamodb.ProjectionType.KEYS_ONLY}
    named = None if isinstance(index.attributes, str) else list(index.attributes)
    return dynamodb.GlobalSecondaryIndexPropsV2(
        index_name=index.name,
        partition_key=_string_attribute(index.partition_key),
        sort_key=_string_attribute(index.sort_key),
        projection_type=whole.get(str(index.attributes), dynamodb.ProjectionType.INCLUDE),
        non_key_attributes=named,
    )
