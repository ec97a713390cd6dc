"""What the projection of verdicts wrote, in a form that can be compared."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import boto3

from autotune.protocol.ids import new_id
from autotune_platform.runtime import clients
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.models import Webhook
from autotune_platform.webhooks.repository import WebhookRepository

NOT_COUNTS = {"pk", "sk", "expires_at", "model_id", "grader_version"}
KINDS = {
    "completions": ("checkpoint",),
    "registry": ("statistics#", "metering#"),
    "deliveries": ("evt_", "drain"),
}


def subscribe(organization_id: str) -> str:
    """Subscribe a webhook to all events since 2020; return its id."""
    since = "2020-01-01T00:00:00Z"
    webhook = Webhook(
        id=new_id("whk"),
        organization_id=organization_id,
        url="http://127.0.0.1:1",
        event_types="all",
        description="",
        created_at=since,
        updated_at=since,
    )
    WebhookRepository(Table("registry", clients.dynamodb())).add(webhook)
    return webhook.id


def items(table: str) -> list[dict[str, Any]]:
    """Everything in a table that the projection wrote."""
    found: list[dict[str, Any]] = boto3.resource("dynamodb").Table(table).scan()["Items"]
    return [item for item in found if item["sk"].startswith(KINDS[table])]


def decisions() -> list[tuple[str, ...]]:
    """Each decision in the audit log, as often as it is there: of what, by whom, and how."""
    return sorted(
        (
            *(item["pk"].partition("#")[0], entry["batchId"], entry["graderId"]),
            *(some["state"], some.get("reasonCode", ""), completion_id),
        )
        for item, entry in _decision_items()
        for some in entry["verdicts"]
        for completion_id in some["completionIds"]
    )


def _decision_items() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    stored = boto3.resource("dynamodb").Table("audit").scan()["Items"]
    entries = [(item, json.loads(item["entry"])) for item in stored if "entry" in item]
    return [(item, entry) for item, entry in entries if entry["kind"] == "decision"]


def forget() -> None:
    """Delete everything that the projection wrote, and open the batches that it closed."""
    for batch in _batches():
        if "open_shard" not in batch:
            opened = {"open_shard": "open#0", "due_at": moment(datetime.now(UTC))}
            Table("completions", clients.dynamodb()).update(batch["pk"], "batch", opened)
    for item, _ in _decision_items():
        Table("audit", clients.dynamodb()).delete(item["pk"], item["sk"])
    for table in KINDS:
        for item in [*items(table), *(_window_items() if table == "completions" else [])]:
            Table(table, clients.dynamodb()).delete(item["pk"], item["sk"])


def _batches() -> list[dict[str, Any]]:
    stored = boto3.resource("dynamodb").Table("completions").scan()["Items"]
    return [item for item in stored if item["sk"] == "batch"]


def open_batches() -> set[str]:
    """The batches that the sweeper is to look at."""
    return {item["pk"] for item in _batches() if "open_shard" in item}


def checkpoints() -> dict[str, dict[str, set[int]]]:
    """The indexes of the completions in each state, by batch."""
    return {
        item["pk"]: {
            state: {int(index) for index in item[state]}
            for state in ("scored", "abstained", "failed", "canceled")
            if state in item
        }
        for item in items("completions")
    }


def counts(prefix: str) -> dict[tuple[str, str], Counter[str]]:
    """Counts by grader and sort key without the lane, all lanes together."""
    merged: dict[tuple[str, str], Counter[str]] = {}
    for item in items("registry"):
        if item["sk"].startswith(prefix):
            key = item["pk"], item["sk"].rpartition("#")[0]
            numbers = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
            merged.setdefault(key, Counter()).update(numbers)
    return merged


def windows() -> dict[tuple[str, ...], Counter[str]]:
    """Counts of verdicts by partition, bucket of time and series, all lanes together."""
    merged: dict[tuple[str, ...], Counter[str]] = {}
    for item in _window_items():
        bucket, _, _ = item["sk"].split("#")
        key = item["pk"], bucket, item.get("model_id", ""), item.get("grader_version", "")
        numbers = {name: value for name, value in item.items() if name not in NOT_COUNTS}
        merged.setdefault(key, Counter()).update(numbers)
    return merged


def _window_items() -> list[dict[str, Any]]:
    """What verdicts are counted in by time; what was submitted is counted by who submits."""
    stored = boto3.resource("dynamodb").Table("completions").scan()["Items"]
    of_windows = [item for item in stored if item["pk"].startswith("window#")]
    return [item for item in of_windows if "#submitted#" not in item["sk"]]


def events(webhook_id: str) -> dict[str, dict[str, Any]]:
    """The bodies of a webhook's events, by event id."""
    return {
        item["sk"]: json.loads(item["body"])
        for item in items("deliveries")
        if item["pk"] == webhook_id and "body" in item
    }


def everything(webhook_id: str) -> Any:
    """All that must not depend on repeated deliveries, crashes and order."""
    moments = {item["pk"]: item["decided_at"] for item in items("completions")}
    counted = counts("statistics#"), counts("metering#"), windows()
    followed = events(webhook_id), decisions(), open_batches()
    return checkpoints(), moments, *counted, *followed
