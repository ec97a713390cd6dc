"""The tables of the platform in MiniStack, and its queues, keys and buckets in moto."""

import json
from functools import cache
from typing import Any, get_args

import boto3

from autotune_platform.access.secrets import SecretKind
from infra.tables import (
    APPRENTICE,
    AUDIT,
    BUDGETS,
    COMPLETIONS,
    DECKS,
    DELIVERIES,
    LEDGER,
    REGISTRY,
    Index,
    TableSchema,
)
from tests.support.saved_backends import SavedBackend, saved_backends
from tests.support.sessions import shared_session
from tests.support.tables import SavedTables

_TABLES = {
    "registry": REGISTRY,
    "completions": COMPLETIONS,
    "budgets": BUDGETS,
    "audit": AUDIT,
    "deliveries": DELIVERIES,
    "ledger": LEDGER,
    "decks": DECKS,
    "apprentice": APPRENTICE,
}
QUEUES = ("high", "normal", "low")
API_URL = "https://api.test"
REWARD_URL = "https://rewards.test"


@cache
def _made() -> tuple[dict[str, str], list[SavedBackend | SavedTables]]:
    environment = resources_in(shared_session())
    return environment, saved_backends()


def make_resources(*, admit_private: bool) -> dict[str, str]:
    """Have everything, and empty; return the environment that names it.

    It is made once for a process, and from then on there again as it was made.
    """
    _, backends = _made()
    for backend in backends:
        backend.restore()
    return names_of_resources(admit_private=admit_private)


def names_of_resources(*, admit_private: bool) -> dict[str, str]:
    """Return the environment that names everything, whatever is in it."""
    environment, _ = _made()
    return {**environment, "ADMIT_PRIVATE_ADDRESSES": str(admit_private).lower()}


def resources_in(session: boto3.Session) -> dict[str, str]:
    """Make everything where a session leads, once; return the environment that names it."""
    dynamodb = session.client("dynamodb")
    for name, schema in _TABLES.items():
        keys = {key for index in schema.indexes for key in (index.partition_key, index.sort_key)}
        dynamodb.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=_keys("pk", "sk"),
            AttributeDefinitions=[
                {"AttributeName": key, "AttributeType": "S"} for key in {"pk", "sk", *keys}
            ],
            **_indexes_and_stream(schema),
        )
    for bucket in ("content", "audit", "exports", "ledger", "apprentice"):
        session.client("s3").create_bucket(Bucket=bucket)
    kms = session.client("kms")
    sqs = session.client("sqs")
    topic = session.client("sns").create_topic(Name="reviews")
    machines = {
        name: session.client("stepfunctions").create_state_machine(
            name=name,
            definition=json.dumps({"StartAt": "Wait", "States": {"Wait": {"Type": "Succeed"}}}),
            roleArn="arn:aws:iam::123456789012:role/any",
        )["stateMachineArn"]
        for name in (
            "score_completions",
            "export_scores",
            "train_student",
            "work_deck_run",
            "submit_llm_batch",
            "import_llm_requests",
        )
    }
    return {
        "REGISTRY_TABLE": "registry",
        "COMPLETIONS_TABLE": "completions",
        "BUDGETS_TABLE": "budgets",
        "DELIVERIES_TABLE": "deliveries",
        "AUDIT_TABLE": "audit",
        "LEDGER_TABLE": "ledger",
        "LEDGER_BUCKET": "ledger",
        "DECKS_TABLE": "decks",
        "APPRENTICE_TABLE": "apprentice",
        "PROVIDER_KEYS_KEY": kms.create_key()["KeyMetadata"]["KeyId"],
        "CERTIFICATES_KEY": kms.create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY")[
            "KeyMetadata"
        ]["KeyId"],
        "SUBMIT_LLM_BATCH_ARN": machines["submit_llm_batch"],
        "IMPORT_LLM_REQUESTS_ARN": machines["import_llm_requests"],
        "AUDIT_BUCKET": "audit",
        "WEBHOOK_QUEUE_URL": sqs.create_queue(QueueName="webhooks")["QueueUrl"],
        "RUN_QUEUE_URL": sqs.create_queue(QueueName="runs")["QueueUrl"],
        "WORK_RUNS_FUNCTION": "work_runs",
        "ANSWER_LINEAR_FUNCTION": "answer_linear",
        "SCORE_SIMILARITY_FUNCTION": "score_similarity",
        "APPRENTICE_BUCKET": "apprentice",
        "TRAINING_PRICES": '{"ml.g5.xlarge": "1.408", "ml.g5.2xlarge": "1.515"}',
        "TRAINING_PREFIX": "autotune",
        "TRAINING_ROLE_ARN": "arn:aws:iam::123456789012:role/autotune-training",
        "TRAINING_IMAGE": "123456789012.dkr.ecr.us-east-1.amazonaws.com/training:1",
        "TRAINING_CODE": "s3://assets/training.tar.gz",
        "TRAINING_KEY_ARN": kms.create_key()["KeyMetadata"]["Arn"],
        "HOSTING_PREFIX": "autotune",
        "HOSTING_ROLE_ARN": "arn:aws:iam::123456789012:role/hosting",
        "ADAPTER_IMAGE": "djl-inference:lmi",
        "CAPTURE_QUEUE_URL": sqs.create_queue(QueueName="captures")["QueueUrl"],
        "CONTENT_BUCKET": "content",
        **{
            f"SECRETS_KEY_{kind.upper().replace('-', '_')}": kms.create_key(
                KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC"
            )["KeyMetadata"]["KeyId"]
            for kind in get_args(SecretKind)
        },
        "EXPORT_BUCKET": "exports",
        "SCORE_COMPLETIONS_ARN": machines["score_completions"],
        "EXPORT_SCORES_ARN": machines["export_scores"],
        "TRAIN_STUDENT_ARN": machines["train_student"],
        "WORK_DECK_RUN_ARN": machines["work_deck_run"],
        "API_URL": API_URL,
        "REWARD_URL": REWARD_URL,
        "REVIEW_TOPIC_ARN": topic["TopicArn"],
        **{
            f"{queue.upper()}_QUEUE_URL": sqs.create_queue(QueueName=queue)["QueueUrl"]
            for queue in QUEUES
        },
        "DEAD_LETTERS": json.dumps(
            {
                queue: [
                    sqs.create_queue(QueueName=name)["QueueUrl"]
                    for name in (f"{queue}-dead-letters", queue)
                ]
                for queue in (*QUEUES, "webhooks", "captures", "runs")
            }
        ),
    }


def _indexes_and_stream(schema: TableSchema) -> dict[str, Any]:
    described: dict[str, Any] = {}
    if schema.indexes:
        described["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index.name,
                "KeySchema": _keys(index.partition_key, index.sort_key),
                "Projection": _projection(index),
            }
            for index in schema.indexes
        ]
    if schema.has_stream:
        described["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    return described


def _projection(index: Index) -> dict[str, Any]:
    match index.attributes:
        case "all":
            return {"ProjectionType": "ALL"}
        case "keys":
            return {"ProjectionType": "KEYS_ONLY"}
        case named:
            return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(named)}


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]
