"""Requests as the providers document them are taken, and what they do not document is not."""

import copy
import json
from pathlib import Path

import pytest

from tests.unit.providers.conftest import ANTHROPIC, AWS, BEARER, GOOGLE

DOCUMENTED = json.loads(Path(__file__).with_name("documented.json").read_text())["requests"]
HEADERS = {
    "anthropic": ANTHROPIC,
    "azure": {"api-key": "fake-key"},
    "bedrock": AWS,
    "gemini": GOOGLE,
    "openai": BEARER,
    "openrouter": BEARER,
}
WRONG = {
    "anthropic": {**ANTHROPIC, "x-api-key": "wrong"},
    "azure": {"api-key": "wrong"},
    "bedrock": {"authorization": "AWS4-HMAC-SHA256 Credential=wrong/20261122/us-east-1/bedrock"},
    "gemini": {"x-goog-api-key": "wrong"},
    "openai": {"authorization": "Bearer wrong"},
    "openrouter": {"authorization": "Bearer wrong"},
}


def message_of(provider, refused):
    """The message of an error, from where that provider puts it."""
    document = refused.json()
    if provider == "bedrock":
        assert refused.headers["x-amzn-errortype"]
        return document["message"]
    if provider == "anthropic":
        assert document["type"] == "error"
    return document["error"]["message"]


@pytest.mark.parametrize("one", DOCUMENTED, ids=lambda one: one["name"])
class TestDocumented:
    def test_the_example_is_taken(self, http, one):
        taken = http.post(one["path"], headers=HEADERS[one["provider"]], json=one["body"])
        assert taken.status_code in (200, 202), taken.text

    def test_a_field_that_is_not_documented_is_refused(self, http, one):
        body = {**one["body"], "noSuchField": 1}
        refused = http.post(one["path"], headers=HEADERS[one["provider"]], json=body)
        assert refused.status_code == 400
        assert "noSuchField" in message_of(one["provider"], refused)

    @pytest.mark.parametrize("value", [None, 7, "text"])
    def test_a_value_of_another_type_is_refused(self, http, one, value):
        for name in one["body"]:
            if isinstance(one["body"][name], list | dict):
                body = {**copy.deepcopy(one["body"]), name: value}
                refused = http.post(one["path"], headers=HEADERS[one["provider"]], json=body)
                if refused.status_code != 400:
                    assert (name, value) in ADMITTED
        assert http.get("/_fake/health").json()["bugs"] == []

    def test_a_wrong_key_is_refused(self, http, one):
        refused = http.post(one["path"], headers=WRONG[one["provider"]], json=one["body"])
        assert refused.status_code in (400, 401, 403)
        assert "API key" in message_of(one["provider"], refused)
        assert http.get("/_fake/bill").json()["executions"] == 0


# Where a list or an object may be something else by the documentation too.
ADMITTED = {("stop", None), ("stop", "text"), ("system", "text"), ("provider", None)}
