"""What a rubric grader's model is asked about a completion, and under which key."""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.llm_requests import EnqueueLlmRequest, LlmInput
from autotune_platform.checks.rubrics import Rubric
from autotune_platform.checks.templates import Sample
from autotune_platform.completions.models import Completion
from autotune_platform.judging.judge import Round
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.ordering import order_id
from autotune_platform.verdicts.models import OfGrader

PURPOSE = "scoring"
# Deadlines are at most a week away; what is left behind goes a day later.
_RETENTION_DAYS = 8
# These take OpenAI's schemas in chat completions; of others only some models do.
_STRUCTURED = frozenset({"openai", "azure"})


def row_id(completion_id: str, asker: OfGrader, organization_id: str) -> str:
    """Return the id of the row that asks about a completion: one for each generation."""
    return order_id(organization_id, key_of(completion_id, asker))


def key_of(completion_id: str, asker: OfGrader) -> str:
    """Return the key of a question."""
    key = (completion_id, asker.grader_id, asker.grader_version, str(asker.generation))
    return "#".join(("rubric", *key))


def question(
    rubric: Rubric, completion: Completion, round_: Round, connection: Connection
) -> EnqueueLlmRequest:
    """Return what is asked about a completion.

    Raises:
        CompletionFaultError: a place in the prompt is missing, or the text is too long.
    """
    sample = Sample(
        prompt=completion.prompt, response=completion.response, metadata=completion.metadata
    )
    configuration, grader = rubric.configuration, round_.grader
    params = configuration.params
    if connection.provider in _STRUCTURED:
        params = params.model_copy(update={"response_format": _response_format(rubric.schema)})
    return EnqueueLlmRequest(
        connection_id=configuration.connection_id,
        purpose=PURPOSE,
        model=configuration.model,
        input=LlmInput(system=rubric.system, user=rubric.user, variables=rubric.variables(sample)),
        params=params,
        completion_id=completion.id,
        labels={"grader": grader.id, "version": grader.version or "", "run": round_.asker.run_id},
        complete_by=completion.deadline,
        retention_days=_RETENTION_DAYS,
    )


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "grade", "strict": True, "schema": schema},
    }
