"""A task's configuration and its evidence as tables have them."""

from typing import Any

from autotune.protocol.apprentice_tasks import PutApprenticeTaskRequest
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.storage.table import Table
from tests.support.apprentice import configuration


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
