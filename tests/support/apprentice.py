"""Tasks of the apprentice for tests: what they are made of."""

from typing import Any

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
