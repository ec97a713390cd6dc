"""What models are asked in a run: the same words for the paid one and the small one."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from autotune.protocol.compact_json import compact
from autotune.protocol.limits import MAX_METADATA_DEPTH
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_params import LlmInput, LlmParams
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune.protocol.types import nests_deeper_than
from autotune_platform.apprentice.local.contract import LocalQuestion
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.outputs import KNOWN_SCHEMAS
from autotune_platform.ledger.providers.registry import takes_json_schema
from autotune_platform.ledger.templates import fill
from autotune_platform.runtime.bounded_json import parse_strictly

PURPOSE: Final = "apprentice"
"""Costs of runs are listed by it."""

_INSTRUCTION = (
    "Answer with one JSON object and nothing else: no Markdown, no words before or behind it. "
    "It must be valid under this JSON Schema:\n"
)


def remote_question(
    document: Mapping[str, Any],
    run: Run,
    provider: LlmProvider,
    *,
    model: Mapping[str, Any] | None = None,
    purpose: str = PURPOSE,
) -> EnqueueLlmRequest:
    """Return what a paid model is asked.

    Args:
        document: the configuration that the run goes by.
        provider: of its connection; JSON is asked for in its own way where it has one that takes
            any schema.
        model: an additional one; the primary one without it.
        purpose: what it costs is listed by.
    """
    model = model or document["remote"]["primary"]
    schema = compact(document["outputSchema"])
    return EnqueueLlmRequest(
        connection_id=model["connectionId"],
        purpose=purpose,
        model=model["model"],
        input=LlmInput(
            system=_system_template(document["systemPrompt"], schema),
            user=document["promptTemplate"],
            variables=variables(document, run.input),
        ),
        params=_params(schema, provider, model["maxOutputTokens"]),
        labels={"task": run.task_name, "run": run.id},
    )


def local_question(document: Mapping[str, Any], value: Mapping[str, Any]) -> LocalQuestion:
    """Return what a version is asked of an input."""
    known = variables(document, value)
    return LocalQuestion(
        system=fill(system_template(document), known),
        user=fill(document["promptTemplate"], known),
        output_schema=document["outputSchema"],
        max_tokens=document["remote"]["primary"]["maxOutputTokens"],
        input=value,
    )


def require_fits(document: Mapping[str, Any], value: Mapping[str, Any]) -> None:
    """Require that prompts with an input put in are not too long.

    Raises:
        InvalidRequestError: they are.
    """
    known = variables(document, value)
    for template in (system_template(document), document["promptTemplate"]):
        fill(template, known)


def variables(document: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, str]:
    """Return what is put into the prompts, by property of the input schema.

    A text is put in as it is, anything else as compact JSON, and nothing where the input has none.
    """
    return {name: _text(value, name) for name in document["inputSchema"]["properties"]}


def _text(value: Mapping[str, Any], name: str) -> str:
    if name not in value:
        return ""
    member = value[name]
    if isinstance(member, str):
        return member
    return compact(member)


def system_template(document: Mapping[str, Any]) -> str:
    """Return what both models read first, with places for variables."""
    return _system_template(document["systemPrompt"], compact(document["outputSchema"]))


def _system_template(prompt: str, schema: str) -> str:
    # Two braces in a row are in texts of the schema alone, where they are no place of a variable.
    schema = schema.replace("{{", "{\\u007b")
    return f"{prompt}\n\n{_INSTRUCTION}{schema}"


# To check them takes longer than all else here, and a task's stay the same.
@lru_cache(KNOWN_SCHEMAS)
def _params(schema: str, provider: LlmProvider, max_tokens: int) -> LlmParams:
    # It was bounded and checked when the task was put.
    output_schema = parse_strictly(schema.encode(), most_values=len(schema))
    return LlmParams(max_tokens=max_tokens, response_format=_form(output_schema, provider))


def _form(output_schema: Mapping[str, Any], provider: LlmProvider) -> dict[str, Any] | None:
    if takes_json_schema(provider):
        # Not strict, which many a schema is refused for; what is answered is checked here anyway.
        schema = {"name": "answer", "strict": False, "schema": output_schema}
        form = {"type": "json_schema", "json_schema": schema}
        is_deep = nests_deeper_than(form, MAX_METADATA_DEPTH)
        return {"type": "json_object"} if is_deep else form
    return {"responseMimeType": "application/json"} if provider == "gemini" else None
