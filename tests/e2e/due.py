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


def sweep_ledger(endpoint: str) -> None:
    """Do at once what the ledger's sweeper does every minute: begin what is due."""
    session = boto3.Session("test", "test", region_name=REGION)
    functions = session.client("lambda", endpoint_url=endpoint)
    names = (
        one["FunctionName"]
        for page in functions.get_paginator("list_functions").paginate()
        for one in page["Functions"]
    )
    name = next(name for name in names if "SweepLedger" in name)
    answer = functions.invoke(FunctionName=name, Payload=b"{}")
    assert "FunctionError" not in answer, answer["Payload"].read()
