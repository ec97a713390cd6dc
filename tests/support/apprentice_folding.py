"""Runs, versions and streams of the apprentice for tests."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from autotune.protocol.ids import new_id
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.models import Run, RunPair
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.grouping import groups
from autotune_platform.storage.table import Table
from tests.support.apprentice import configuration
from tests.support.lambdas import LambdaContext, handler
from tests.support.platform import Platform
from tests.support.tables import stream_records

NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
"""Yesterday's, when runs are from: lists have 90 days at most, and a fixed day grows old."""
DAY = NOON.date().isoformat()
_SCORED = {
    "remote_row_id": "llm_" + 26 * "0",
    "sampling_rate": 1.0,
    "remote": Remote.ANSWERED,
    "local": Local.ANSWERED,
    "is_drawn": True,
}


class Apprentice:
    """One task, with what is stored of it."""

    def __init__(self, platform: Platform, connection_id: str, name: str = "intents") -> None:
        self.platform = platform
        self.connection_id = connection_id
        self.name = name
        self.table = Table("apprentice", clients.dynamodb())
        self.runs = RunRepository(self.table)
        self.evidence = EvidenceRepository(self.table)
        self.organization_id: str = platform.me()["organizationId"]
        self.put()

    def put(self, **fields: Any) -> None:
        """Put the task's configuration."""
        answer = self.platform.call(
            "PUT",
            f"/api/v1/apprentice/tasks/{self.name}",
            configuration(self.connection_id, **fields),
        )
        assert answer.status == 200, answer.text

    @property
    def task(self) -> ApprenticeTask:
        found = TaskRepository(self.table).find(self.organization_id, self.name)
        assert found is not None
        return found

    def add_version(self, number: int = 1, **fields: Any) -> None:
        """Store a version as whoever registers one does."""
        task = self.task
        self.table.put(
            {
                "pk": task.id,
                "sk": f"version#{number:06d}",
                "organization_id": task.organization_id,
                "task_id": task.id,
                "number": number,
                "definition_hash": task.definition_hash,
                "state": "hosted",
                "backend": "vllm",
                "model": f"small-{number}",
                "created_at": NOON.isoformat(),
                "created_by": "key_x",
                **fields,
            }
        )

    def run(self, **fields: Any) -> Run:
        """Return a run of the task that is pending, unless ``fields`` say otherwise."""
        task = self.task
        created_at = fields.get("created_at", NOON)
        made = {
            "id": new_id("apr"),
            "organization_id": task.organization_id,
            "task_id": task.id,
            "task_name": task.name,
            "configuration_version": task.version,
            "definition_hash": task.definition_hash,
            "created_by": "key_x",
            "input": {"text": "a secret wish"},
            "fingerprint": "0" * 64,
            "created_at": created_at,
            "deadline_at": created_at + timedelta(minutes=15),
        }
        return Run.model_validate({**made, **fields})

    def answered(self, *scores: float, version: int = 1, **fields: Any) -> Run:
        """Return a run that the paid model answered, with a drawn pair for each score."""
        pairs = [RunPair(version=version, score=score, is_drawn=True) for score in scores]
        return self.run(
            **{
                "state": "answered",
                "answers": Model.REMOTE,
                "ended_at": fields.get("created_at", NOON),
                "phase": 2,
                "pairs": pairs,
                "cost_nano_usd": 1_000,
                **_SCORED,
                **fields,
            }
        )

    def store(self, runs: Iterable[Run]) -> None:
        """Store new runs."""
        for run in runs:
            assert self.runs.add(run)

    def follow(
        self, records: Sequence[dict[str, Any]] | None = None, *, at_once: int = 100
    ) -> None:
        """Deliver records of the table's stream, by default all that there ever were."""
        for some in groups(self.records() if records is None else records, at_once):
            handler("functions.apprentice.follow_runs")({"Records": some}, LambdaContext())

    @staticmethod
    def records() -> list[dict[str, Any]]:
        return stream_records("apprentice")
