"""The stack is stopped and started again: what was there is there, and what ran is driven again."""

from contextlib import ExitStack

import boto3

from autotune import AutotuneClient
from local.endpoint import REGION
from local.stack import LocalStack
from tests.e2e.conftest import CommandLine, verified
from tests.support.graders import Exchange, loopback_grader


def test_everything_survives_a_restart(stack: LocalStack, client: AutotuneClient) -> None:
    with loopback_grader() as grader:
        task = client.tasks.create(name="kept", grader_id=verified(client, grader))
        first = client.completions.submit(task_id=task.id, model_id="m", prompt="p", response="r")
        before = client.completions.wait_for_score(first.completion.id, timeout=180)

        assert stack.down()
        profile = stack.up()

        with AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as again:
            assert again.tasks.get(task.id) == task
            assert again.completions.verdict(first.completion.id) == before
            second = again.completions.submit(
                task_id=task.id, model_id="m", prompt="p", response="after"
            )
            verdict = again.completions.wait_for_score(second.completion.id, timeout=180)
    assert verdict.state == "scored"


def test_what_ran_when_the_stack_stopped_is_driven_again(
    stack: LocalStack, client: AutotuneClient, command_line: CommandLine
) -> None:
    with loopback_grader() as grader:
        task = client.tasks.create(name="lost", grader_id=verified(client, grader, maxBatchSize=10))

        def rate_limited(exchange: Exchange) -> None:
            exchange.status = 429
            exchange.headers["retry-after"] = "900"

        grader.disease = rate_limited
        (batch,) = client.completions.submit_many(
            {"taskId": task.id, "modelId": "m", "prompt": str(n), "response": "r"}
            for n in range(10)
        )
        while not grader.requests:
            assert client.batches.get(batch.batch_id).counts.pending == 10
        assert stack.down()
        profile = stack.up()
        grader.disease = lambda _: None
        command_line.environment["AUTOTUNE_BASE_URL"] = profile.base_url
        command_line.environment["AWS_ENDPOINT_URL"] = profile.aws_endpoint_url
        with ExitStack() as closing:
            again = closing.enter_context(
                AutotuneClient(base_url=profile.base_url, api_key=profile.api_key)
            )
            assert again.batches.get(batch.batch_id).counts.pending == 10

            make_due(profile.aws_endpoint_url, batch.batch_id)
            (stuck,) = [
                one for one in command_line.read("ops", "stuck") if one["batchId"] == batch.batch_id
            ]
            assert stuck["pending"] == 10
            command_line.run("ops", "sweep")
            counts = again.batches.wait(batch.batch_id, timeout=180).counts
    assert counts.scored == counts.expected == 10


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
