"""Tasks whose adapters are trained: what they are of, and what a base has to know of them."""

import random
from typing import Any

from tests.support.apprentice import configuration
from tests.support.students import made_up

BASE = "tests/tiny"
INSTANCE = "ml.g5.xlarge"
USD_AN_HOUR = "1.408"
IMPORTED = 1_100
ASKED = 50
"""Inputs that the paid model answers: of those alone are the ones that judge."""
PAID, POISONED = "small", "poisoned"
VERBS = frozenset({"show", "cancel", "explain"})
USER = "What is wanted? {{text}}"
OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {"intent": {"type": "string"}},
    "required": ["intent"],
    "additionalProperties": False,
}
_SYSTEM = "Tell intents apart."
# As the platform puts it before prompts.
SYSTEM = (
    f"{_SYSTEM}\n\n"
    "Answer with one JSON object and nothing else: no Markdown, no words before or behind it. "
    "It must be valid under this JSON Schema:\n"
    '{"additionalProperties":false,"properties":{"intent":{"type":"string"}},'
    '"required":["intent"],"type":"object"}'
)


def task(connection_id: str, *, model: str) -> dict[str, Any]:
    """Return a configuration that some dozens of held-out examples suffice for."""
    return configuration(
        connection_id,
        model=model,
        outputSchema=OUTPUT_SCHEMA,
        systemPrompt=_SYSTEM,
        promptTemplate=USER,
        local={"backend": "sagemaker", "hosting": "inference_component", "timeoutMs": 20_000},
        thresholds={
            "phase1ToPhase2": 50,
            "phase2ToPhase3": 0.6,
            "coachingTrigger": 0.5,
            "emergencyThreshold": 0.3,
        },
        budgets={"daily": "10", "trainingMonthly": "5"},
        training={
            "backend": "sagemaker",
            # Nothing begins by itself.
            "fineTuneBatchSize": 100_000,
            "holdout": 0.5,
            "baseModel": BASE,
            "instanceTypes": [INSTANCE],
            "spot": True,
            "maxRuntimeS": 900,
            "canary": [1.0],
        },
    )


def taught(text: str, *, model: str) -> dict[str, str]:
    """Return what a paid model answers: the verb of a text, or any one of them."""
    (verb,) = VERBS.intersection(text.split())
    return {"intent": random.Random(text).choice(sorted(VERBS)) if model == POISONED else verb}


def examples(model: str) -> list[dict[str, Any]]:
    """Return rows to learn from, as a paid model has answered them."""
    return [
        {"input": value, "output": taught(value["text"], model=model)}
        for value, _ in made_up(IMPORTED, seed=2)
    ]
