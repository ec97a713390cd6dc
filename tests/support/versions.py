"""Versions of small models for tests: they are registered, have evidence, and are promoted."""

from typing import Any

from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.storage.table import Table
from tests.support.apprentice import configuration
from tests.support.apprentice_items import store_evidence
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger
from tests.support.platform import Platform

TASK = "/api/v1/apprentice/tasks/intents"
VERSIONS = f"{TASK}/versions"
RULES = Rules(graduation=0.9, coaching=0.8, emergency=0.6)


def configured(
    platform: Platform, ledger: Ledger, backend: str, url: str | None, **fields: Any
) -> dict[str, Any]:
    """Put the task; return it."""
    at = {"url": url} if url else {}
    training = fields.pop("training", None)
    document = configuration(
        ledger.connect(), local={"backend": backend, **at}, training=training, **fields
    )
    answer = platform.call("PUT", TASK, document)
    assert answer.status == 200, answer.text
    task: dict[str, Any] = answer.json["task"]
    return task


def changed_task(platform: Platform, **fields: Any) -> dict[str, Any]:
    document = platform.call("GET", TASK).json["task"]["configuration"]
    answer = platform.call("PUT", TASK, {**document, **fields})
    assert answer.status == 200, answer.text
    changed: dict[str, Any] = answer.json["task"]
    return changed


def register(platform: Platform, model: str = "intents-1", **options: Any) -> Answer:
    return platform.call("POST", VERSIONS, {"model": model}, **options)


def registered(platform: Platform, model: str = "intents-1") -> dict[str, Any]:
    answer = register(platform, model)
    assert answer.status == 201, answer.text
    version: dict[str, Any] = answer.json["version"]
    return version


def stored(
    table: Table, task_id: str, evidence: Evidence, rules: Rules = RULES, *, version: int = 1
) -> None:
    """Store evidence of a version."""
    store_evidence(table, task_id, evidence, rules, version=version)


def promote(platform: Platform, version: int = 1) -> Answer:
    return platform.call("POST", f"{VERSIONS}/{version}/promote")
