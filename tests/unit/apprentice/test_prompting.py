"""What a paid model is asked: checked once for each task, and of what the task says now."""

from datetime import UTC, datetime
from typing import Any

import pytest

from autotune.protocol.limits import MAX_METADATA_DEPTH
from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.prompting import remote_question

NOW = datetime(2026, 11, 28, tzinfo=UTC)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"ä": {"type": "number", "maximum": 1e300, "enum": [0.1, -0.0, 10**30]}},
}


def document(schema: dict[str, Any], *, most_tokens: int = 400) -> dict[str, Any]:
    primary = {"connectionId": f"llc_{0:026}", "model": "m", "maxOutputTokens": most_tokens}
    return {
        "remote": {"primary": primary},
        "outputSchema": schema,
        "inputSchema": {"properties": {"text": {}}},
        "systemPrompt": "Sort.",
        "promptTemplate": "{{text}}",
    }


def run(text: str) -> Run:
    return Run(
        id="apr_1",
        organization_id="org_1",
        task_id="apt_1",
        task_name="t",
        configuration_version=1,
        definition_hash="h",
        created_by="key_1",
        input={"text": text},
        fingerprint="f",
        created_at=NOW,
        deadline_at=NOW,
    )


def test_the_form_of_an_answer_is_checked_once_for_inputs_of_a_task() -> None:
    first, second = (remote_question(document(SCHEMA), run(text), "openai") for text in "ab")
    assert first.params is second.params
    assert (first.input.variables, second.input.variables) == ({"text": "a"}, {"text": "b"})
    assert first.params.response_format == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": False, "schema": SCHEMA},
    }


@pytest.mark.parametrize(
    ("changed", "provider", "expected"),
    [
        (document({"type": "object"}), "openai", 400),
        (document(SCHEMA, most_tokens=500), "openai", 500),
        (document(SCHEMA), "gemini", 400),
    ],
    ids=["schema", "most-tokens", "provider"],
)
def test_it_is_another_once_the_task_says_otherwise(
    changed: dict[str, Any], provider: LlmProvider, expected: int
) -> None:
    before = remote_question(document(SCHEMA), run("a"), "openai").params
    after = remote_question(changed, run("a"), provider).params
    assert after != before
    assert after.max_tokens == expected


def test_a_form_that_nests_too_deep_is_any_object() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(MAX_METADATA_DEPTH):
        deep = {"type": "object", "properties": {"a": deep}}
    asked = remote_question(document(deep), run("a"), "openai")
    assert asked.params.response_format == {"type": "json_object"}
