"""Tasks of the apprentice for tests: what they are made of."""

from typing import Any

from autotune.protocol.apprentice_tasks import PutApprenticeTaskRequest
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.storage.table import Table

INPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"intent": {"type": "string"}, "reason": {"type": "string"}},
    "required": ["intent"],
}


def configuration(connection_id: str, *, model: str = "small", **fields: Any) -> dict[str, Any]:
    """Return the configuration of a task that tells intents apart, as it is put."""
    return {
        "description": "Tells what a customer wants.",
        "inputSchema": INPUT_SCHEMA,
        "outputSchema": OUTPUT_SCHEMA,
        "systemPrompt": "You tell intents apart, in JSON.",
        "promptTemplate": "What does the customer want? {{text}}",
        "remote": {
            "primary": {"connectionId": connection_id, "model": model, "maxOutputTokens": 50}
        },
        "local": {"backend": "linear"},
        "evaluator": {"type": "structured_match", "matchFields": ["intent"]},
        "thresholds": {
            "phase1ToPhase2": 50,
            "phase2ToPhase3": 0.9,
            "coachingTrigger": 0.8,
            "emergencyThreshold": 0.6,
        },
        "sampling": {"decay": "exponential"},
        "budgets": {"daily": "10"},
        "training": {"backend": "linear", "fineTuneBatchSize": 50},
        **fields,
    }


def document(**fields: Any) -> dict[str, Any]:
    """Return a configuration as it is stored, with all defaults."""
    asked = PutApprenticeTaskRequest.model_validate(configuration("llc_" + 26 * "0", **fields))
    made: dict[str, Any] = asked.model_dump(mode="json", by_alias=True)
    return made


def store_evidence(
    table: Table, task_id: str, evidence: Evidence, rules: Rules, *, version: int = 1
) -> None:
    """Store evidence of a version as whoever folds pairs does."""
    table.put(
        {
            "pk": task_id,
            "sk": f"evidence#{version:06d}",
            "organization_id": "org",
            "task_id": task_id,
            "task_name": "intents",
            "version": version,
            "definition_hash": "d",
            "configuration_version": 1,
            "sequence": evidence.sequence,
            "revision": evidence.sequence + 1,
            "state": evidence.to_json(rules),
            "window": "{}",
            "stale_at": 0,
        }
    )
