"""People score what graders were unsure of, on the deployed stack."""

import json
from typing import Any

import boto3
import pytest
from playwright.sync_api import expect

from autotune import AutotuneClient
from autotune.client.errors import ConflictError
from autotune.protocol.reviews import ReviewSummary
from autotune.protocol.runs import RunState, RunSummary
from local.endpoint import REGION
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until
from tests.e2e.due import make_due
from tests.support.subscribers import Subscriber, loopback_subscriber
from tools.browser import launched

PATIENCE = 180


def aws(profile: LocalProfile, service: str) -> Any:
    """Return a client of MiniStack."""
    session: Any = boto3.Session("test", "test", region_name=REGION)
    return session.client(service, endpoint_url=profile.aws_endpoint_url)


def end(profile: LocalProfile, review_id: str, *path: str) -> None:
    """Let the time of a review be over that is stored under a path."""
    dynamodb = aws(profile, "dynamodb")
    table = next(name for name in dynamodb.list_tables()["TableNames"] if "Completions" in name)
    dynamodb.update_item(
        TableName=table,
        Key={"pk": {"S": review_id}, "sk": {"S": "review"}},
        UpdateExpression=f"SET {'.'.join(f'#{name}' for name in path)} = :past",
        ExpressionAttributeNames={f"#{name}": name for name in path},
        ExpressionAttributeValues={":past": {"S": "2026-01-01T00:00:00Z"}},
    )


def asked(client: AutotuneClient, task_id: str, count: int) -> list[ReviewSummary]:
    """Wait until people are asked about some completions of a task."""

    def of_task() -> list[ReviewSummary]:
        found = [one for one in client.reviews.list(state="open") if one.task_id == task_id]
        return found if len(found) == count else []

    return until(of_task, seconds=PATIENCE)


def run_in(client: AutotuneClient, grader_id: str, state: RunState) -> RunSummary:
    """Wait until a grader's run is in a state, as it is stored: a list ends no run."""
    return until(
        lambda: next(
            (one for one in client.runs.list(state=state) if one.grader_id == grader_id), None
        ),
        seconds=PATIENCE,
    )


def told_of(subscriber: Subscriber, reviews: list[ReviewSummary]) -> dict[str, str]:
    """Wait until a subscriber was told of reviews; return the link of each."""

    def links() -> dict[str, str]:
        told = [json.loads(one.body)["data"] for one in subscriber.received]
        found = {data["reviewId"]: data["link"] for data in told}
        return found if {review.id for review in reviews} <= found.keys() else {}

    return until(links, seconds=PATIENCE)


def subscribed_queue(profile: LocalProfile) -> str:
    """Subscribe a new queue to the topic of reviews; return its URL."""
    sns, sqs = aws(profile, "sns"), aws(profile, "sqs")
    [topic] = [
        one["TopicArn"] for one in sns.list_topics()["Topics"] if "ReviewTopic" in one["TopicArn"]
    ]
    url: str = sqs.create_queue(QueueName="reviewers")["QueueUrl"]
    asked = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    arn = asked["Attributes"]["QueueArn"]
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": arn,
        "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    return url


def told_by_topic(profile: LocalProfile, queue: str, count: int) -> dict[str, str]:
    """Wait until the topic has told of some reviews; return the link of each."""
    sqs = aws(profile, "sqs")
    links: dict[str, str] = {}
    for _ in range(60):
        answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        for message in answer.get("Messages", []):
            data = json.loads(json.loads(message["Body"])["Message"])["data"]
            links[data["reviewId"]] = data["link"]
        if len(links) >= count:
            break
    return links


def people_task(client: AutotuneClient, **policy: Any) -> tuple[str, str]:
    """Make a task that people judge alone; return the ids of it and of its grader."""
    grader_id = client.graders.register(name="people", kind="human").grader.id
    task = client.tasks.create(name="people", grader_id=grader_id, review=policy or None)
    return task.id, grader_id


def test_three_reviews_are_scored_by_keyboard_alone(
    client: AutotuneClient, command_line: CommandLine, profile: LocalProfile
) -> None:
    task_id, grader_id = people_task(client)
    with loopback_subscriber() as subscriber, launched() as browser:
        queue = subscribed_queue(profile)
        created = client.webhooks.create(url=subscriber.url, event_types=["review.requested"])
        (batch,) = client.completions.submit_many(
            {"taskId": task_id, "modelId": "m", "prompt": f"Prompt {n}", "response": f"Answer {n}"}
            for n in range(3)
        )
        reviews = asked(client, task_id, 3)
        waiting = run_in(client, grader_id, "waiting")
        assert (waiting.step, waiting.remaining) == ("wait_for_person", 3)

        url = command_line.read("reviews", "link", "--reviewer", "cleo")["url"]
        assert url.startswith(f"{profile.base_url}/review#")
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(30_000)
        page.goto(url)
        given: dict[str, float] = {}
        response, shown = page.locator("#response"), ""
        presses = ((["7"], 0.7), (["0"], 1.0), (["4", "ArrowLeft"], 0.39))
        for done, (keys, value) in enumerate(presses, start=1):
            if shown:  # the answered one stands there until the next has come
                expect(response).not_to_have_text(shown, timeout=30_000)
            expect(response).to_contain_text("Answer", timeout=30_000)
            shown = response.inner_text().strip()
            assert shown not in given
            given[shown] = value
            for key in keys:
                page.keyboard.press(key)
            page.keyboard.press("Enter")
            expect(page.get_by_text(f"{done} done", exact=True)).to_be_visible(timeout=30_000)
        expect(page.locator("#notice-title")).to_have_text("Nothing left to review", timeout=30_000)

        decided = client.batches.wait(batch.batch_id, timeout=PATIENCE)
        assert decided.counts.scored == 3
        for number, verdict in enumerate(decided.verdicts):
            assert verdict.score is not None
            assert (verdict.score.value, verdict.score.confidence) == (given[f"Answer {number}"], 1)
            assert verdict.decided_by == "person"
            assert verdict.review_id in {review.id for review in reviews}
        for review in reviews:
            answered = client.reviews.get(review.id)
            assert answered.answer is not None
            assert (answered.state, answered.answer.reviewer_id) == ("answered", "cleo")
        assert run_in(client, grader_id, "completed").id == waiting.id

        links = told_of(subscriber, reviews)
        assert links == told_by_topic(profile, queue, len(reviews))
        page.goto("about:blank")
        page.goto(links[reviews[0].id])
        expect(page.locator("#notice-title")).to_have_text("This review is done", timeout=30_000)
        client.webhooks.delete(created.webhook.id)


def test_a_review_returns_to_the_pool_when_its_lease_is_over(
    client: AutotuneClient, profile: LocalProfile
) -> None:
    task_id, _ = people_task(client)
    submitted = client.completions.submit(
        task_id=task_id, model_id="m", prompt="p", response="leased"
    )
    [review] = asked(client, task_id, 1)
    keys = {
        name: client.keys.create(name=name, role="reviewer", principal_id=name).api_key
        for name in ("anna", "ben")
    }
    with (
        AutotuneClient(base_url=profile.base_url, api_key=keys["anna"]) as anna,
        AutotuneClient(base_url=profile.base_url, api_key=keys["ben"]) as ben,
    ):
        held = anna.reviews.claim(review.id)
        assert held.lease is not None
        assert held.lease.holder == "anna"
        with pytest.raises(ConflictError):
            ben.reviews.claim(review.id)
        assert ben.reviews.next() is None
        end(profile, review.id, "lease", "until")
        taken = ben.reviews.next()
        assert taken is not None
        assert taken.id == review.id
        with pytest.raises(ConflictError):
            anna.reviews.answer(review.id, value=0.25)
        ben.reviews.answer(review.id, value=0.5)
    verdict = client.completions.wait_for_score(submitted.completion.id, timeout=PATIENCE)
    assert verdict.score is not None
    assert verdict.score.value == 0.5


def test_what_nobody_reviews_in_time_falls_back_as_its_task_says(
    client: AutotuneClient, profile: LocalProfile, command_line: CommandLine
) -> None:
    task_id, _ = people_task(client, onExpiry="abstain")
    (batch,) = client.completions.submit_many(
        [{"taskId": task_id, "modelId": "m", "prompt": "p", "response": "unread"}]
    )
    [review] = asked(client, task_id, 1)
    make_due(profile.aws_endpoint_url, batch.batch_id)
    command_line.run("ops", "sweep")
    assert client.batches.get(batch.batch_id).counts.pending == 1
    end(profile, review.id, "expires_at")
    make_due(profile.aws_endpoint_url, batch.batch_id)
    command_line.run("ops", "sweep")
    done = client.batches.wait(batch.batch_id, timeout=PATIENCE)
    assert done.counts.abstained == 1
    assert done.verdicts[0].decided_by == "expiry"
    assert client.reviews.get(review.id).state == "expired"
