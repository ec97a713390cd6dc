"""What an answerer may say beyond a text: why it ended, who answered, what it cost, and no."""

import pytest

from tests.providers.answers import Reply, Usage
from tests.providers.wire import ProviderError
from tests.unit.providers.conftest import BEARER, chat_body


@pytest.fixture
def chat(http):
    def chat(**fields):
        return http.post("/v1/chat/completions", headers=BEARER, json=chat_body(**fields))

    return chat


def test_a_reply_says_why_it_ended_who_answered_and_what_it_cost(world, chat, http):
    usage = Usage(input=1_000, output=60, reasoning=20)
    world.answers.answerer = lambda _: Reply(
        "Half of", finish="length", served_model="gpt-5-mini-2026", usage=usage, has_token=False
    )
    body = chat().json()
    (choice,) = body["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Half of", "length")
    assert body["model"] == "gpt-5-mini-2026"
    said = body["usage"]
    assert (said["prompt_tokens"], said["completion_tokens"]) == (1_000, 60)
    assert said["completion_tokens_details"]["reasoning_tokens"] == 20
    # 1,000 tokens at 0.25 USD a million, 60 at 2.
    assert http.get("/_fake/bill").json()["total_nano_usd"] == 250_000 + 120_000


def test_a_reply_that_tells_no_usage_is_charged_all_the_same(world, chat, http):
    world.answers.answerer = lambda _: Reply("Fine.", tells_usage=False)
    assert "usage" not in chat().json()
    (execution,) = http.get("/_fake/executions").json()["executions"]
    assert execution["cost_nano_usd"] > 0


def test_a_refusal_is_written_as_the_provider_writes_it(world, chat):
    world.answers.answerer = lambda _: Reply("I cannot.", finish="refusal", has_token=False)
    (choice,) = chat().json()["choices"]
    assert (choice["message"]["content"], choice["message"]["refusal"]) == (None, "I cannot.")


def test_a_limit_of_tokens_cuts_a_reply(world, chat):
    world.answers.answerer = lambda _: Reply("word " * 500)
    (choice,) = chat(max_completion_tokens=50).json()["choices"]
    assert choice["finish_reason"] == "length"
    assert len(choice["message"]["content"]) <= 200


def test_an_answerer_that_refuses_is_the_providers_error_and_nothing_is_charged(
    world, chat, openai, http
):
    def refuse(ask):
        if "1" in ask.prompt:
            raise ProviderError(404, "not_found", "Nobody knows.", retry_after=4)
        return "Fine."

    world.answers.answerer = refuse
    refused = chat(text="Question 1")
    assert (refused.status_code, refused.headers["retry-after"]) == (404, "4")
    assert refused.json()["error"]["message"] == "Nobody knows."
    batch, done, failed = openai.run(3)
    assert batch["request_counts"] == {"total": 3, "completed": 2, "failed": 1}
    assert [one["custom_id"] for one in failed] == ["row-1"]
    assert failed[0]["response"]["status_code"] == 404
    assert len(done) == http.get("/_fake/bill").json()["executions"] == 2


def test_a_world_may_be_steered_by_more_routes(world, http):
    world.more_controls[("POST", "/mood")] = lambda _, request: {"mood": request.document()["is"]}
    assert http.post("/_fake/mood", json={"is": "bad"}).json() == {"mood": "bad"}
    assert http.post("/_fake/mood", json={}).status_code == 400
    assert http.get("/_fake/mood").status_code == 404
