"""Runs and versions of the apprentice, put into the table of the stack as their workers do it."""

from datetime import UTC, datetime, timedelta

import boto3

from autotune.protocol.apprentice_tasks import ApprenticeTask
from autotune.protocol.ids import new_id
from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.models import Run, RunPair
from autotune_platform.storage.table import Table
from local.records import LocalProfile


def apprentice_table(profile: LocalProfile) -> Table:
    """Return the table of the stack."""
    session = boto3.Session("test", "test", region_name="us-east-1")
    client = session.client("dynamodb", endpoint_url=profile.aws_endpoint_url)
    [name] = [one for one in client.list_tables()["TableNames"] if "Apprentice" in one]
    return Table(name, client)


def add_version(table: Table, task: ApprenticeTask, organization_id: str) -> None:
    """Store the first version of a task's small model."""
    table.put(
        {
            "pk": task.id,
            "sk": "version#000001",
            "organization_id": organization_id,
            "task_id": task.id,
            "number": 1,
            "definition_hash": task.definition_hash,
            "backend": "vllm",
            "model": "small",
            "state": "hosted",
            "created_at": datetime.now(UTC).isoformat(),
            "created_by": "key",
        }
    )


def answered(task: ApprenticeTask, organization_id: str, score: float) -> Run:
    """Return a run that both models answered."""
    now = datetime.now(UTC)
    return Run(
        id=new_id("apr"),
        organization_id=organization_id,
        task_id=task.id,
        task_name=task.name,
        configuration_version=task.version,
        definition_hash=task.definition_hash,
        created_by="key",
        input={"text": "hello"},
        fingerprint="0" * 64,
        state="answered",
        phase=2,
        is_drawn=True,
        local_version=1,
        local=Local.ANSWERED,
        remote=Remote.ANSWERED,
        answers=Model.REMOTE,
        pairs=[RunPair(version=1, score=score, is_drawn=True)],
        cost_nano_usd=1_000,
        created_at=now,
        ended_at=now,
        deadline_at=now + timedelta(minutes=15),
    )
