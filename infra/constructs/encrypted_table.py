"""A DynamoDB table, encrypted with a customer key, recoverable and protected from deletion."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

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

# Nothing may scan: a request path that does is refused, not slow.
ReadOperation = Literal["BatchGetItem", "ConditionCheckItem", "GetItem", "Query"]
WriteOperation = Literal["BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"]
FOLLOW_OPERATIONS = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")


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

    def grant_read(
        self, grantee: iam.IGrantable, *operations: ReadOperation, keys: str | None = None
    ) -> None:
        """Lets a function read items of the table itself by some operations.

        Args:
            grantee: The function or role.
            operations: What it may do.
            keys: What the partition keys of the items are like, with ``*``; any without it.
        """
        self._grant(
            grantee,
            operations=operations,
            resource_arn=self.table.table_arn,
            conditions=_on_items(keys),
        )
        self._key.grant_use_via(grantee, service="dynamodb")

    def grant_write(
        self, grantee: iam.IGrantable, *operations: WriteOperation, keys: str | None = None
    ) -> None:
        """Lets a function write items of the table itself by some operations.

        A transaction needs the operation of each of its items.

        Args:
            grantee: The function or role.
            operations: What it may do.
            keys: What the partition keys of the items are like, with ``*``; any without it.
        """
        self._grant(
            grantee,
            operations=operations,
            resource_arn=self.table.table_arn,
            conditions=_on_items(keys),
        )
        self._key.grant_use_via(grantee, service="dynamodb", writes=True)

    def grant_empty(self, grantee: iam.IGrantable) -> None:
        """Lets a function of operators read all of the table, to delete what it finds."""
        self._grant(
            grantee,
            operations=["BatchWriteItem", "Query", "Scan"],
            resource_arn=self.table.table_arn,
        )
        self._key.grant_use_via(grantee, service="dynamodb", writes=True)

    def grant_query_index(self, grantee: iam.IGrantable, *, index_name: str) -> None:
        """Lets a function query one index."""
        arn = f"{self.table.table_arn}/index/{index_name}"
        self._grant(grantee, operations=["Query"], resource_arn=arn)
        self._key.grant_use_via(grantee, service="dynamodb")

    def grant_follow(self, grantee: iam.IGrantable) -> None:
        """Lets a function read the table's stream."""
        if self.table.table_stream_arn is None:
            raise ValueError("this table has no stream")
        self._grant(grantee, operations=FOLLOW_OPERATIONS, resource_arn=self.table.table_stream_arn)
        self._key.grant_use_via(grantee, service="dynamodb")

    def _grant(
        self,
        grantee: iam.IGrantable,
        *,
        operations: Sequence[str],
        resource_arn: str,
        conditions: Mapping[str, Any] | None = None,
    ) -> None:
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=[f"dynamodb:{operation}" for operation in operations],
            resource_arns=[resource_arn],
            conditions=conditions,
        )


def _on_items(keys: str | None) -> Mapping[str, Any] | None:
    return {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [keys]}} if keys else None


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
