"""Converse: what is sent, what answers and errors mean, and where in AWS it all goes."""

import json
from typing import Any

import pytest

from autotune_platform.ledger.bedrock_access import BedrockAccess
from autotune_platform.ledger.calls import Answer, Question, Refusal
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.bedrock import BedrockFormat, endpoint
from autotune_platform.ledger.providers.registry import unsupported, unsupported_in_batch
from autotune_platform.ledger.usage import Usage
from tests.unit.ledger.asking import connection, question

MODEL = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
ACCESS = BedrockAccess(
    region="eu-west-1",
    role_arn="arn:aws:iam::123456789012:role/autotune-bedrock-lab",
    external_id="org_1",
    batch_role_arn="arn:aws:iam::123456789012:role/batch",
    bucket="lab-batches",
    prefix="autotune/",
    job_hours=24,
)
SPOKEN = BedrockFormat()


def to_bedrock(**changes: Any) -> Connection:
    return connection("bedrock", bedrock=ACCESS, **changes)


def outcome(
    document: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Answer | Refusal:
    return SPOKEN.outcome(status, headers or {}, json.dumps(document).encode())


def refusal(kind: str, status: int, message: str = "no") -> Refusal:
    found = outcome({"message": message}, status, {"x-amzn-errortype": f"{kind}:http://x"})
    assert isinstance(found, Refusal)
    return found


def sent(asked: Question) -> tuple[str, Any]:
    found = SPOKEN.question(to_bedrock(), None, asked)
    return found.url, json.loads(found.body)


def test_a_question_goes_to_its_region_and_names_its_model_in_the_path() -> None:
    url, body = sent(question(MODEL, temperature=0.5, top_p=0.9, stop=["END"]))
    assert url == (
        "https://bedrock-runtime.eu-west-1.amazonaws.com"
        "/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse"
    )
    assert body == {
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": "Name a colour."}]}],
        "inferenceConfig": {
            "maxTokens": 50,
            "temperature": 0.5,
            "topP": 0.9,
            "stopSequences": ["END"],
        },
    }


def test_what_only_a_model_knows_goes_along_and_what_is_ours_stays() -> None:
    fields = {"top_k": 3, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    _, body = sent(question(MODEL, system=None, extra={"additionalModelRequestFields": fields}))
    assert body["additionalModelRequestFields"] == fields
    assert "system" not in body


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"temperature": 1.5}, "temperature"),
        ({"seed": 3}, "seed"),
        ({"response_format": {"type": "json_object"}}, "responseFormat"),
        ({"response_format": {"type": "text", "structure": {}}}, "responseFormat"),
        ({"extra": {"guardrailConfig": {}}}, "extra.guardrailConfig"),
        ({"extra": {"inferenceConfig": {"maxTokens": 9_000}}}, "extra.inferenceConfig"),
        ({"extra": {"performanceConfig": {"latency": "optimized"}}}, "extra.performanceConfig"),
        ({"extra": {"serviceTier": {"type": "priority"}}}, "extra.serviceTier"),
        ({"extra": {"toolConfig": {}}}, "extra.toolConfig"),
        ({"extra": {"additionalModelRequestFields": 3}}, "extra.additionalModelRequestFields"),
        (
            {"extra": {"additionalModelRequestFields": {"max_tokens": 9}}},
            "extra.additionalModelRequestFields.max_tokens",
        ),
        (
            {"extra": {"additionalModelRequestFields": {"maxGenLen": 9}}},
            "extra.additionalModelRequestFields.maxGenLen",
        ),
    ],
)
def test_what_it_does_not_take_is_named(params: dict[str, Any], field: str) -> None:
    assert unsupported("bedrock", question(**params).params) == field


def test_a_format_of_the_answer_is_sent_in_single_calls_and_refused_in_jobs() -> None:
    form = {"type": "json_schema", "structure": {"jsonSchema": {"schema": "{}"}}}
    asked = question(MODEL, response_format=form)
    assert sent(asked)[1]["outputConfig"] == {"textFormat": form}
    assert unsupported("bedrock", asked.params) is None
    assert unsupported_in_batch("bedrock", asked.params) == "responseFormat"
    assert unsupported_in_batch("bedrock", question(MODEL).params) is None
    assert unsupported_in_batch("openai", asked.params) is None


def test_what_it_takes_is_taken() -> None:
    extra = {"requestMetadata": {"run": "1"}, "additionalModelRequestFields": {"top_k": 5}}
    assert unsupported("bedrock", question(temperature=1, extra=extra).params) is None


def test_an_answer_with_reasoning_and_a_cache() -> None:
    found = outcome(
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "because"}}},
                        {"text": "Blue"},
                        {"text": "."},
                    ],
                }
            },
            "stopReason": "max_tokens",
            "usage": {
                "inputTokens": 10,
                "outputTokens": 4,
                "totalTokens": 114,
                "cacheReadInputTokens": 80,
                "cacheWriteInputTokens": 20,
            },
        },
        headers={"x-amzn-requestid": "abc-1"},
    )
    assert found == Answer(
        text="Blue.",
        finish_reason="length",
        usage=Usage(
            input_tokens=110, cached_input_tokens=80, cache_write_tokens=20, output_tokens=4
        ),
        provider_request_id="abc-1",
        reasoning="because",
    )


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "refusal"),
        ("content_filtered", "refusal"),
        ("malformed_model_output", "other"),
        (None, "other"),
        ([], "other"),
    ],
)
def test_how_an_answer_ended(reason: Any, finish: str) -> None:
    message = {"content": [{"text": "Blue"}]}
    found = outcome({"output": {"message": message}, "stopReason": reason})
    assert isinstance(found, Answer)
    assert (found.finish_reason, found.usage) == (finish, None)


@pytest.mark.parametrize("document", [{}, {"output": {"message": {"content": "x"}}}, [], "x"])
def test_what_is_no_answer_is_malformed_and_may_be_paid(document: Any) -> None:
    found = outcome(document)
    assert isinstance(found, Refusal)
    assert (found.code, found.may_be_paid) == ("result_malformed", True)


@pytest.mark.parametrize(
    ("kind", "status", "code", "may_be_paid"),
    [
        ("ThrottlingException", 429, "rate_limited", False),
        ("ModelNotReadyException", 429, "rate_limited", False),
        ("ServiceQuotaExceededException", 400, "rate_limited", False),
        ("AccessDeniedException", 403, "account", False),
        ("UnrecognizedClientException", 403, "account", False),
        ("ExpiredTokenException", 403, "provider_error", False),
        ("ValidationException", 400, "rejected", False),
        ("ResourceNotFoundException", 404, "rejected", False),
        ("ModelTimeoutException", 408, "provider_error", True),
        ("ModelErrorException", 424, "provider_error", False),
        ("InternalServerException", 500, "provider_error", False),
        ("ServiceUnavailableException", 503, "provider_error", False),
    ],
)
def test_errors(kind: str, status: int, code: str, *, may_be_paid: bool) -> None:
    found = refusal(kind, status)
    assert (found.code, found.may_be_paid) == (code, may_be_paid)


def test_an_account_that_may_not_use_bedrock_is_refused_as_invalid_and_means_the_account() -> None:
    said = "Your account is not authorized to invoke this API operation."
    assert refusal("ValidationException", 400, said).code == "account"


def test_a_redirect_is_not_followed() -> None:
    found = SPOKEN.outcome(307, {"location": "https://elsewhere.example"}, b"")
    assert isinstance(found, Refusal)
    assert found.code == "rejected"


def test_a_real_connection_calls_hosts_of_aws_alone() -> None:
    real = to_bedrock()
    assert endpoint(real, "bedrock") == "https://bedrock.eu-west-1.amazonaws.com"
    assert endpoint(real, "s3") == "https://lab-batches.s3.eu-west-1.amazonaws.com"
