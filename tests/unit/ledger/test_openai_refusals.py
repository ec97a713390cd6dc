"""Errors of OpenAI, Azure, OpenRouter, vLLM and Ollama, each with its one meaning."""

from typing import Any

import pytest

from tests.unit.ledger.asking import answer, refusal
from tests.unit.ledger.test_openai_format import DOCUMENTED, completion


def error(message: str = "no", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": None, "param": None, "code": None, **fields}}


@pytest.mark.parametrize(
    ("status", "document", "code"),
    [
        (400, error(type="invalid_request_error"), "rejected"),
        (400, error(code="context_length_exceeded"), "rejected"),
        (400, error(code="invalid_prompt", type="invalid_request_error"), "content_filtered"),
        (401, error(code="invalid_api_key", type="invalid_request_error"), "account"),
        (403, error(code="unsupported_country_region_territory"), "account"),
        (403, error(code="model_not_found"), "account"),
        (404, error(code="model_not_found", type="invalid_request_error"), "rejected"),
        (404, {"error": "model 'x' not found"}, "rejected"),
        (405, {"detail": "Method Not Allowed"}, "rejected"),
        (408, error(), "provider_error"),
        (409, error(), "provider_error"),
        (413, b"<html>", "rejected"),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "rejected"),
        (429, error(code="rate_limit_exceeded", type="tokens"), "rate_limited"),
        (429, error(code="insufficient_quota", type="insufficient_quota"), "account"),
        (429, error(code=None, type="insufficient_quota"), "account"),
        (429, error(code="credit_balance_exhausted", type="insufficient_quota"), "account"),
        (429, b"", "rate_limited"),
        (500, error(type="server_error"), "provider_error"),
        (502, b"<html>Bad Gateway</html>", "provider_error"),
        (503, error(), "provider_error"),
        (529, b"", "provider_error"),
    ],
)
def test_errors_have_one_meaning(status: int, document: Any, code: str) -> None:
    found = refusal("openai", document, status)
    assert found.code == code
    assert found.message
    assert found.may_be_paid == (status == 408)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_the_end(status: int) -> None:
    found = refusal("openai", DOCUMENTED, status, {"location": "https://elsewhere.example"})
    assert (found.code, found.may_be_paid) == ("rejected", False)
    assert found.message == f"the provider answered a redirect ({status}); none is followed"


@pytest.mark.parametrize("status", [504, 520, 524])
def test_who_waited_in_vain_for_the_model_may_have_to_pay(status: int) -> None:
    found = refusal("openai", b"", status)
    assert (found.code, found.may_be_paid) == ("provider_error", True)


@pytest.mark.parametrize(
    ("status", "document", "code"),
    [
        (
            400,
            {
                "error": {
                    "message": "The response was filtered",
                    "type": None,
                    "param": "prompt",
                    "code": "content_filter",
                    "status": 400,
                    "innererror": {
                        "code": "ResponsibleAIPolicyViolation",
                        "content_filter_result": {"hate": {"filtered": True}},
                    },
                }
            },
            "content_filtered",
        ),
        (400, error(code="context_length_exceeded"), "rejected"),
        (408, error(), "provider_error"),
    ],
)
def test_azure_is_paid_for_what_it_looked_at(status: int, document: Any, code: str) -> None:
    found = refusal("azure", document, status)
    assert (found.code, found.may_be_paid) == (code, True)


def test_azures_other_errors() -> None:
    gone = {"error": {"code": "DeploymentNotFound", "message": "The API deployment … not exist."}}
    assert refusal("azure", gone, 404).code == "rejected"
    denied = {"statusCode": 401, "message": "Unauthorized. Access token is missing."}
    found = refusal("azure", denied, 401)
    assert (found.code, found.message) == ("account", "Unauthorized. Access token is missing.")


@pytest.mark.parametrize(
    ("document", "code", "may_be_paid"),
    [
        (error("Rate limit exceeded", code=429), "rate_limited", False),
        (error("Provider returned error", code="502"), "provider_error", True),
        (error("Bad", code=400), "rejected", False),
        (error("No money", code=402), "account", False),
        (error("No such thing", code=7), "provider_error", True),
        (error("Quota", type="insufficient_quota"), "account", False),
        (error("Slow", type="rate_limit_error"), "rate_limited", False),
        ({"error": "gone"}, "provider_error", True),
        ({"object": "error", "message": "too long", "code": 400}, "rejected", False),
        (
            {"choices": [{"error": {"code": 503, "message": "cut"}, "finish_reason": "error"}]},
            "provider_error",
            True,
        ),
        (completion(content="par", reason="error"), "provider_error", True),
    ],
)
def test_an_error_may_come_with_200(document: Any, code: str, may_be_paid: bool) -> None:
    found = refusal("openrouter", document)
    assert (found.code, found.may_be_paid) == (code, may_be_paid)


def test_an_error_that_is_null_is_none() -> None:
    assert answer("openrouter", {**DOCUMENTED, "error": None}).text


def test_openrouters_moderators_and_budgets() -> None:
    metadata = {"reasons": ["violence"], "flagged_input": "…", "provider_name": "OpenAI"}
    flagged = error("Your chosen model requires moderation", code=403, metadata=metadata)
    found = refusal("openrouter", flagged, 403)
    assert (found.code, found.may_be_paid) == ("content_filtered", False)
    spent = error("Budget", code=403, metadata={"limit_source": "openrouter_key_limit"})
    assert refusal("openrouter", spent, 403).code == "account"
    busy = refusal("openrouter", error("In flight", code=402), 402, {"retry-after": "3"})
    assert (busy.code, busy.retry_after_seconds) == ("rate_limited", 3)
    assert refusal("openrouter", error("Insufficient credits", code=402), 402).code == "account"


def test_what_openrouter_was_told_is_told() -> None:
    told = error("Provider returned error", code=400, metadata={"raw": "max_tokens too large"})
    found = refusal("openrouter", told, 400)
    assert found.message == "Provider returned error: max_tokens too large"
