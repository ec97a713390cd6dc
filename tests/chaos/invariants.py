"""What must hold at the end, read from the table itself and not through the code that counts."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3

from local.endpoint import REGION
from tests.chaos.diseases import Patient

STATES = ("scored", "abstained", "failed", "canceled")


@dataclass
class Findings:
    """Violations in words, and the states of each task's completions."""

    violations: list[str]
    states: dict[str, Counter[str]]


class CompletionsTable:
    """The table of completions, read whole, as only a test may."""

    def __init__(self, endpoint: str) -> None:
        session = boto3.Session("test", "test", region_name=REGION)
        self._dynamodb = session.client("dynamodb", endpoint_url=endpoint)
        names = self._dynamodb.list_tables()["TableNames"]
        self._name = next(name for name in names if "Completions" in name)

    def items(self) -> Iterator[dict[str, Any]]:
        """Yield every item, without bodies."""
        pages = self._dynamodb.get_paginator("scan").paginate(
            TableName=self._name,
            ProjectionExpression="pk, sk, #state, #value, taskId, openShard",
            ExpressionAttributeNames={"#state": "state", "#value": "value"},
        )
        for page in pages:
            for item in page["Items"]:
                yield {name: next(iter(typed.values())) for name, typed in item.items()}

    def make_everything_due(self) -> int:
        """Let the sweeper look after every open batch now; return how many there are."""
        opened = [item["pk"] for item in self.items() if "openShard" in item]
        for batch_id in opened:
            self._dynamodb.update_item(
                TableName=self._name,
                Key={"pk": {"S": batch_id}, "sk": {"S": "batch"}},
                UpdateExpression="SET dueAt = :past",
                ExpressionAttributeValues={":past": {"S": "2000-01-01T00:00:00.000+00:00"}},
            )
        return len(opened)


def check(
    table: CompletionsTable, accepted: dict[str, str], patients: dict[str, Patient]
) -> Findings:
    """Compare the table with what was accepted and with what graders signed.

    Args:
        accepted: the task of each accepted completion.
        patients: the grader of each task.
    """
    verdicts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    stored: set[str] = set()
    for item in table.items():
        if item["sk"] == "content":
            stored.add(item["pk"])
        elif item["sk"].startswith("verdict#"):
            verdicts[item["pk"]].append(item)
    violations = []
    states: dict[str, Counter[str]] = defaultdict(Counter)
    for completion_id, task_id in accepted.items():
        if completion_id not in stored:
            violations.append(f"{completion_id} was accepted and is not stored")
        own = verdicts.get(completion_id, [])
        if len(own) != 1:
            violations.append(f"{completion_id} has {len(own)} verdicts")
            states[task_id]["pending"] += not own
            continue
        states[task_id][own[0]["state"]] += 1
        signed = patients[task_id].signed.get(completion_id, set())
        if own[0]["state"] == "scored" and float(own[0]["value"]) not in signed:
            violations.append(f"{completion_id} has a score that its grader did not sign")
    unknown = set(verdicts) - set(accepted)
    violations += [f"{one} has a verdict and was never accepted" for one in unknown]
    return Findings(violations, dict(states))
