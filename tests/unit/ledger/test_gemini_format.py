"""generateContent as Google documents it."""

from typing import Any

import pytest

from autotune_platform.ledger.usage import Usage
from tests.unit.ledger.asking import KEY, answer, asked, question, refusal

DOCUMENTED = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "**Adding**", "thought": True},
                    {"text": "1+1 equals 2.", "thoughtSignature": "EjQKMgEM"},
                ],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 1500,
        "candidatesTokenCount": 6,
        "thoughtsTokenCount": 40,
        "cachedContentTokenCount": 1024,
        "totalTokenCount": 1546,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1500}],
    },
    "modelVersion": "gemini-2.5-flash",
    "responseId": "Il0taoSYJ5Cez7IP",
}


def test_what_is_asked() -> None:
    params = {
        "temperature": 1.5,
        "top_p": 0.5,
        "stop": ["END"],
        "seed": 7,
        "response_format": {
            "responseMimeType": "application/json",
            "responseSchema": {"type": "OBJECT"},
        },
        "extra": {
            "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}, "topK": 3},
            "safetySettings": [],
        },
    }
    url, headers, body = asked("gemini", question("gemini-2.5-flash", **params))
    assert url == (
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"
    )
    assert headers == {"Content-Type": "application/json", "x-goog-api-key": KEY}
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Name a colour."}]}],
        "generationConfig": {
            "maxOutputTokens": 50,
            "temperature": 1.5,
            "topP": 0.5,
            "stopSequences": ["END"],
            "seed": 7,
            "responseMimeType": "application/json",
            "responseSchema": {"type": "OBJECT"},
            "thinkingConfig": {"thinkingBudget": 0},
            "topK": 3,
        },
        "safetySettings": [],
    }


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("models/gemini-2.5-pro", "models/gemini-2.5-pro"),
        ("../../x?y#z", "models/..%2F..%2Fx%3Fy%23z"),
    ],
)
def test_a_models_name_stays_inside_of_its_place(model: str, path: str) -> None:
    url, _, body = asked("gemini", question(model, system=None))
    assert url.endswith(f".com/v1beta/{path}:generateContent")
    assert set(body) == {"contents", "generationConfig"}


def test_the_documented_answer_whose_output_includes_thoughts() -> None:
    found = answer("gemini", DOCUMENTED)
    assert (found.text, found.reasoning) == ("1+1 equals 2.", "**Adding**")
    assert found.finish_reason == "stop"
    assert found.served_model == "gemini-2.5-flash"
    assert found.provider_request_id == "Il0taoSYJ5Cez7IP"
    assert found.usage == Usage(
        input_tokens=1500, cached_input_tokens=1024, output_tokens=46, reasoning_tokens=40
    )


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"promptTokenCount": 9}, Usage(input_tokens=9, output_tokens=0)),
        (
            {"promptTokenCount": 9, "toolUsePromptTokenCount": 3, "candidatesTokenCount": 1},
            Usage(input_tokens=12, output_tokens=1),
        ),
        (
            {"promptTokenCount": 9, "thoughtsTokenCount": 2, "totalTokenCount": 900},
            Usage(input_tokens=9, output_tokens=891, reasoning_tokens=2),
        ),
        ({"promptTokenCount": 9, "thoughtsTokenCount": -1}, None),
        ({"promptTokenCount": 9, "cachedContentTokenCount": 10}, None),
        ({"candidatesTokenCount": 9}, None),
        (None, None),
    ],
)
def test_usage_has_zeros_left_out(told: Any, expected: Usage | None) -> None:
    assert answer("gemini", {**DOCUMENTED, "usageMetadata": told}).usage == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refusal"),
        ("RECITATION", "refusal"),
        ("PROHIBITED_CONTENT", "refusal"),
        ("BLOCKLIST", "refusal"),
        ("SPII", "refusal"),
        ("MALFORMED_FUNCTION_CALL", "other"),
        ("OTHER", "other"),
        (None, "other"),
        (["STOP"], "other"),
    ],
)
def test_finish_reasons_with_and_without_content(reason: Any, expected: str) -> None:
    found = answer("gemini", {"candidates": [{"finishReason": reason, "index": 0}]})
    assert (found.text, found.finish_reason) == ("", expected)


def test_a_blocked_question_has_no_candidates() -> None:
    blocked = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7},
    }
    found = refusal("gemini", blocked)
    assert (found.code, found.may_be_paid) == ("content_filtered", True)
    assert "PROHIBITED_CONTENT" in found.message


@pytest.mark.parametrize("candidates", [None, [], [3], "a"])
def test_no_candidate_and_no_reason_is_malformed(candidates: Any) -> None:
    assert refusal("gemini", {"candidates": candidates}).code == "result_malformed"


def error(code: int, status: str, message: str = "no", *details: Any) -> dict[str, Any]:
    told = {"code": code, "message": message, "status": status, "details": list(details)}
    return {"error": told}


def info(reason: str) -> dict[str, str]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}


def delay(duration: Any) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": duration}


SPENT = "Your prepayment credits are depleted. Please go to AI Studio at …"


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (error(400, "INVALID_ARGUMENT"), "rejected"),
        (error(400, "INVALID_ARGUMENT", "API key not valid", info("API_KEY_INVALID")), "account"),
        (error(400, "FAILED_PRECONDITION", "User location is not supported"), "account"),
        (error(403, "PERMISSION_DENIED"), "account"),
        (error(404, "NOT_FOUND", "models/x is not found for API version v1beta"), "rejected"),
        (error(429, "RESOURCE_EXHAUSTED"), "rate_limited"),
        (error(429, "RESOURCE_EXHAUSTED", SPENT), "account"),
        (error(500, "INTERNAL"), "provider_error"),
        (error(503, "UNAVAILABLE"), "provider_error"),
    ],
)
def test_errors_have_one_meaning(document: Any, code: str) -> None:
    status = document["error"]["code"]
    assert refusal("gemini", document, status).code == code
    assert not refusal("gemini", document, status).may_be_paid
    # Answers that were meant to be streamed are lists.
    assert refusal("gemini", [document], status).code == code


def test_a_deadline_there_may_be_paid() -> None:
    found = refusal("gemini", error(504, "DEADLINE_EXCEEDED"), 504)
    assert (found.code, found.may_be_paid) == ("provider_error", True)


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("26s", 26),
        ("26.000s", 26),
        ("26.4s", 27),
        ("999999s", 86_400),
        ("0s", None),
        ("-3s", None),
        ("soon", None),
        (26, None),
    ],
)
def test_how_long_to_wait_is_in_the_body(duration: Any, seconds: int | None) -> None:
    told = error(429, "RESOURCE_EXHAUSTED", "no", info("RATE_LIMIT_EXCEEDED"), delay(duration))
    assert refusal("gemini", told, 429).retry_after_seconds == seconds
