"""A text that is gone, or cannot be read, ends its own row and holds nothing else."""

from typing import Any

import boto3
import pytest

from tests.component.ledger.test_jobs import connect
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger

LONG = "é".join(str(number) for number in range(9_000))


def item(row_id: str) -> dict[str, Any]:
    key = {"pk": {"S": row_id}, "sk": {"S": "input"}}
    found: dict[str, Any] = boto3.client("dynamodb").get_item(TableName="ledger", Key=key)["Item"]
    return found


def lose_object(row_id: str) -> None:
    """As where whoever erased it was killed half way."""
    boto3.client("s3").delete_object(Bucket="ledger", Key=item(row_id)["object_key"]["S"])


def spoil(row_id: str) -> None:
    put = {**item(row_id), "body": {"B": b"zno text"}}
    put.pop("object_key", None)
    boto3.client("dynamodb").put_item(TableName="ledger", Item=put)


@pytest.mark.parametrize("harm", [lose_object, spoil])
@pytest.mark.parametrize("provider", ["simulated", "openai"])
def test_a_row_without_its_text_ends_and_the_others_are_answered(
    ledger: Ledger, harm: Any, provider: str
) -> None:
    if provider == "simulated":
        ids = ledger.enqueue(ledger.connect(), "first", LONG, "last")
    else:
        connection = connect(ledger, provider)
        ids = ledger.enqueue(connection, "first", LONG, "last", model="gpt-5-mini")
    harm(ids[1])
    ledger.run_jobs(hours=30)
    assert statuses(ledger, ids) == {"completed": 2, "error": 1}
    assert ledger.read(ids[1])["error"]["code"] == "platform_error"
    assert_settled(ledger)
