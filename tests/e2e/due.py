"""Times of what is stored, moved for the sweeper, which looks after minutes."""

import boto3

from local.endpoint import REGION


def make_due(endpoint: str, batch_id: str) -> None:
    """Let the sweeper look after a batch now, instead of after the time that its run sleeps."""
    session = boto3.Session("test", "test", region_name=REGION)
    dynamodb = session.client("dynamodb", endpoint_url=endpoint)
    table = next(name for name in dynamodb.list_tables()["TableNames"] if "Completions" in name)
    key = {"pk": {"S": batch_id}, "sk": {"S": "batch"}}
    item = dynamodb.get_item(TableName=table, Key=key)["Item"]
    names = [name for name in item if name.startswith("asleep#")]
    gone = ", ".join(f"#a{place}" for place in range(len(names)))
    dynamodb.update_item(
        TableName=table,
        Key=key,
        UpdateExpression="SET #due = :past" + (f" REMOVE {gone}" if names else ""),
        ExpressionAttributeNames={
            "#due": "due_at",
            **{f"#a{place}": name for place, name in enumerate(names)},
        },
        ExpressionAttributeValues={":past": {"S": "2000-01-01T00:00:00.000+00:00"}},
    )
