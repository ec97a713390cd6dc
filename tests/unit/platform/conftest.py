from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws


@pytest.fixture
def client() -> Iterator[Any]:
    """A DynamoDB client with one empty table, ``t``."""
    with mock_aws():
        made = boto3.client(
            "dynamodb", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
        )
        made.create_table(
            TableName="t",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")
            ],
        )
        yield made
