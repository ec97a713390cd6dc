"""Following a table's stream: which items a function gets, and what happens when it fails."""

from collections.abc import Iterator, Sequence
from typing import Any

from aws_cdk import Acknowledgment, Duration, Validations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.encrypted_table import SORT_KEY, EncryptedTable
from infra.constructs.service_function import ServiceFunction

BATCH_SIZE = 100
RETRY_ATTEMPTS = 10
# The longest that SQS offers.
FAILURE_RETENTION = Duration.days(14)


class StreamConsumer(Construct):
    """Hands a function changes of items, in order for each partition key, at least once.

    A batch that fails is tried again, cut in halves; after ten times the position of what still
    fails goes to ``failures``, so that one record never holds up the others. No more than two
    functions may follow one table: more would throttle each other.

    Args:
        inserted: How sort keys of new items start that the function gets.
        inserted_if: The same of those that it gets only if an attribute is true, with its name.
        modified: The same of items that changed.
        modified_if: The same of items that changed, if an attribute is now one of some texts.
        removed: The same of removed ones.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        table: EncryptedTable,
        consumer: ServiceFunction,
        inserted: Sequence[str] = (),
        inserted_if: Sequence[tuple[str, str]] = (),
        modified: Sequence[str] = (),
        modified_if: Sequence[tuple[str, str, Sequence[str]]] = (),
        removed: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.failures = sqs.Queue(
            self,
            "Failures",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=FAILURE_RETENTION,
        )
        Validations.of(self.failures).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SQS3",
                reason="It is itself where what failed ends; nothing consumes it but an operator.",
            )
        )
        self.consumer = consumer
        # Not the CDK's event source for tables, which would let the function use the data key for
        # anything, and not only for what DynamoDB asks.
        consumer.function.add_event_source_mapping(
            f"{construct_id}Mapping",
            event_source_arn=table.table.table_stream_arn,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=BATCH_SIZE,
            bisect_batch_on_error=True,
            report_batch_item_failures=True,
            retry_attempts=RETRY_ATTEMPTS,
            on_failure=event_sources.SqsDlq(self.failures),
            filters=[
                lambda_.FilterCriteria.filter(pattern)
                for pattern in (
                    *_patterns(inserted, inserted_if),
                    *(_pattern("MODIFY", prefix) for prefix in modified),
                    *_of_some_texts(modified_if),
                    *(_pattern("REMOVE", prefix) for prefix in removed),
                )
            ],
        )
        table.grant_follow(consumer.function)


def _patterns(
    inserted: Sequence[str], inserted_if: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    for prefix in inserted:
        yield _pattern("INSERT", prefix)
    for prefix, attribute in inserted_if:
        pattern = _pattern("INSERT", prefix)
        pattern["dynamodb"]["NewImage"] = {attribute: {"BOOL": [True]}}
        yield pattern


def _of_some_texts(
    modified: Sequence[tuple[str, str, Sequence[str]]],
) -> Iterator[dict[str, Any]]:
    for prefix, attribute, texts in modified:
        pattern = _pattern("MODIFY", prefix)
        pattern["dynamodb"]["NewImage"] = {attribute: {"S": list(texts)}}
        yield pattern


def _pattern(event_name: str, prefix: str) -> dict[str, Any]:
    return {
        "eventName": lambda_.FilterRule.is_equal(event_name),
        "dynamodb": {"Keys": {SORT_KEY: {"S": lambda_.FilterRule.begins_with(prefix)}}},
    }
