"""The task that the stream is of, and where the paid model is called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from autotune.protocol.apprentice_definition import definition_hash
from autotune.protocol.apprentice_tasks import PutApprenticeTaskRequest
from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.configuration.models import ApprenticeTask, Configuration
from autotune_platform.ledger.models import Connection
from benchmarks.apprentice.teacher import MODEL, PRICES

BEGAN_AT: Final = datetime(2026, 11, 2, tzinfo=UTC)
NAME: Final = "intents"
_BY = "key_demo"


@dataclass(frozen=True)
class Asked:
    """A task, its configuration, and the connection to the paid model."""

    task: ApprenticeTask
    configuration: Configuration
    connection: Connection

    @property
    def document(self) -> Mapping[str, Any]:
        """The configuration as it is on the wire, with all defaults."""
        return self.configuration.document


def document_of(intents: Iterable[str], connection_id: str, **fields: Any) -> dict[str, Any]:
    """Return the configuration that the design has for this stream, with all defaults."""
    names = ", ".join(sorted(intents))
    put = {
        "description": "Tells what a customer wants.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {"intent": {"type": "string"}},
            "required": ["intent"],
        },
        "systemPrompt": f"You tell what a customer wants. Name one of these intents: {names}.",
        "promptTemplate": "{{text}}",
        "remote": {
            "primary": {"connectionId": connection_id, "model": MODEL, "maxOutputTokens": 32}
        },
        "local": {"backend": "linear", "gate": "confidence"},
        "evaluator": {"type": "structured_match", "matchFields": ["intent"]},
        "thresholds": {
            "phase1ToPhase2": 4_000,
            "phase2ToPhase3": 0.90,
            "coachingTrigger": 0.80,
            "emergencyThreshold": 0.60,
        },
        "confidence": {"windowSize": 500},
        "sampling": {"decay": "exponential", "k": 4, "minFloor": 0.02},
        "budgets": {"daily": "10", "monthly": "100"},
        "training": {"backend": "linear", "fineTuneBatchSize": 1_000, "holdout": 0.3},
        **fields,
    }
    return PutApprenticeTaskRequest.model_validate(put).model_dump(mode="json", by_alias=True)


def made(intents: Iterable[str], seed: str, **fields: Any) -> Asked:
    """Return a task, whose ids and key follow from a seed."""
    organization_id = derived_id("org", "apprentice demo", seed)
    connection_id = derived_id("llc", "apprentice demo", seed)
    task_id = derived_id("apt", "apprentice demo", seed)
    document = document_of(intents, connection_id, **fields)
    known = definition_hash(document)
    key = derived_id("key", "sampling", seed).encode()
    return Asked(
        task=ApprenticeTask(
            id=task_id,
            organization_id=organization_id,
            name=NAME,
            description=document["description"],
            version=1,
            definition_hash=known,
            created_at=BEGAN_AT,
            created_by=_BY,
            updated_at=BEGAN_AT,
            sampling_key=key.ljust(32)[:32].hex(),
        ),
        configuration=Configuration(
            task_id=task_id,
            organization_id=organization_id,
            version=1,
            definition_hash=known,
            document=document,
            created_at=BEGAN_AT,
            created_by=_BY,
        ),
        connection=Connection(
            id=connection_id,
            organization_id=organization_id,
            name="paid",
            provider="openai",
            base_url="https://paid.example/v1",
            prices=PRICES,
            created_at=BEGAN_AT,
            updated_at=BEGAN_AT,
        ),
    )
