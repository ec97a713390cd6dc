"""Webhooks and the topic are told that a person is asked."""

import json

import boto3
import pytest

from functions.reviews import api
from tests.support.projected import events, subscribe


@pytest.fixture
def topic_messages(platform, monkeypatch):
    """What the topic sent, to a queue that takes it as it is."""
    import os

    sqs, sns = boto3.client("sqs"), boto3.client("sns")
    url = sqs.create_queue(QueueName="reviewers")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    sns.subscribe(TopicArn=os.environ["REVIEW_TOPIC_ARN"], Protocol="sqs", Endpoint=arn["QueueArn"])

    def received():
        answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]

    return received


def test_webhooks_and_topic_are_told_the_same_and_nothing_of_the_text(reviewing, topic_messages):
    webhook_id = subscribe(reviewing.organization_id)
    review_id = reviewing.request(prompt="SECRET PROMPT", response="SECRET RESPONSE")
    reviewing.platform.announce_reviews()
    [(event_id, body)] = events(webhook_id).items()
    assert body["event"] == "review.requested"
    review = reviewing.read(review_id)
    assert {**body["data"], "link": ""} == {
        "reviewId": review_id,
        "completionId": review["completionId"],
        "taskId": review["taskId"],
        "reason": "low_confidence",
        "expiresAt": review["expiresAt"],
        "link": "",
    }
    [message] = topic_messages()
    assert json.loads(message["Message"]) == body
    assert "SECRET" not in json.dumps(message)
    attributes = {name: one["Value"] for name, one in message["MessageAttributes"].items()}
    assert attributes == {
        "organizationId": reviewing.organization_id,
        "eventType": "review.requested",
        "eventId": event_id,
    }
    by_link = reviewing.bearer(body["data"]["link"], session="abcdefgh")
    assert reviewing.next_id(**by_link) == review_id


def test_telling_again_tells_of_the_same_event(reviewing):
    webhook_id = subscribe(reviewing.organization_id)
    reviewing.request()
    reviewing.platform.announce_reviews()
    told = events(webhook_id)
    reviewing.platform.announce_reviews()
    assert events(webhook_id) == told


def test_changes_of_a_review_are_not_told(reviewing):
    webhook_id = subscribe(reviewing.organization_id)
    review_id = reviewing.request()
    reviewing.next(api_key=reviewing.anna)
    reviewing.answer(review_id, api_key=reviewing.anna)
    reviewing.platform.announce_reviews()
    assert [body["event"] for body in events(webhook_id).values()] == ["review.requested"]


def test_the_link_of_an_event_holds_as_long_as_its_review(reviewing):
    review = api.parts().review_records.find(reviewing.request())
    links = api.parts().review_links
    payload = links.read(links.of_review(review).partition("#")[2])
    assert payload.expires_at == int(review.expires_at.timestamp())
    assert (payload.review_id, payload.shared) == (review.id, True)
