"""What a newcomer does: a grader, a task, a file of completions, their scores."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3

from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until

EXAMPLES = Path("examples/data/arithmetic.jsonl")
GRADER = "examples/graders/numeric_answer.py"


def expected(line: dict[str, Any]) -> tuple[str, float | None]:
    metadata = line["metadata"]
    if "answer" not in metadata:
        return "abstained", None
    return "scored", float(metadata["isCorrect"])


def figures_of(command_line: CommandLine, grader_id: str, *, verdicts: int) -> dict[str, Any]:
    """Return a grader's statistics once they are of so many verdicts: they follow by a moment."""

    def counted() -> dict[str, Any] | None:
        stats: dict[str, Any] = command_line.read("graders", "stats", grader_id)
        return stats if sum(stats["counts"].values()) >= verdicts else None

    return until(counted, seconds=60, pause=0.5)


def tallied(profile: LocalProfile, task_id: str) -> Counter[str]:
    """Return how many completions of a task's batches are tallied in each state."""
    dynamodb = boto3.resource(
        "dynamodb",
        endpoint_url=profile.aws_endpoint_url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    (table,) = (one for one in dynamodb.tables.all() if "Completions" in one.name)
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {}
    while not page or "LastEvaluatedKey" in page:
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if page else {}
        page = dict(table.scan(**start))
        found += page["Items"]
    batches = {item["batch_id"] for item in found if item.get("task_id") == task_id}
    counts: Counter[str] = Counter()
    for item in found:
        if item["sk"] == "checkpoint" and item["pk"] in batches:
            for state in ("scored", "abstained", "failed", "canceled"):
                counts[state] += len(item.get(state, ()))
    return +counts


def test_a_file_is_scored_once_exported_and_not_submitted_twice(
    command_line: CommandLine, profile: LocalProfile, serve: Callable[..., Any], tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in EXAMPLES.read_text().splitlines()]
    states = Counter(expected(line)[0] for line in lines)
    with serve(GRADER, "--max-batch-size", "32") as grader_id:
        task = command_line.read("tasks", "create", "--name", "arithmetic", "--grader", grader_id)
        task_id = task["id"]
        first = command_line.run("submit", str(EXAMPLES), "--task", task_id)
        assert first.stdout.splitlines()[-1] == f"scored {states['scored']} of {len(lines)}"
        again = command_line.run("submit", str(EXAMPLES), "--task", task_id)
        assert again.stdout.splitlines()[-1] == first.stdout.splitlines()[-1]
        assert f"{len(lines)} already submitted" in again.stdout + again.stderr
        stats = figures_of(command_line, grader_id, verdicts=len(lines))
        assert stats["counts"] == {**dict.fromkeys(stats["counts"], 0), **states}
        assert sum(stats["scoreDistribution"]) == stats["totalScored"] == states["scored"]
        assert stats["p99LatencyMs"] is not None
        assert tallied(profile, task_id) == states

    scores = [
        json.loads(line)
        for line in command_line.run("scores", "--task", task_id, "--json").stdout.splitlines()
    ]
    assert Counter(score["state"] for score in scores) == states
    assert len({score["completionId"] for score in scores}) == len(lines)

    # Of every task: the grader alone tells which scores are these.
    good = ("--grader", grader_id, "--min-score", "0.5", "--since", "2020-01-01", "--json")
    assert {
        json.loads(line)["completionId"]
        for line in command_line.run("scores", *good).stdout.splitlines()
    } == {
        score["completionId"]
        for score in scores
        if score["score"] is not None and score["score"]["value"] >= 0.5
    }

    runs = command_line.run("runs", "list", "--state", "completed", "--json").stdout.splitlines()
    assert sum(json.loads(run)["completions"] for run in runs) >= len(lines)
    newest = command_line.read("runs", "get", json.loads(runs[0])["id"])
    assert (newest["counts"]["pending"], newest["remaining"]) == (0, 0)
    assert command_line.read("runs", "cancel", newest["id"]) == newest

    exported = command_line.read("export", "--task", task_id, "--out", str(tmp_path / "scores"))
    (part,) = exported["parts"]
    lines_written = gzip.decompress(Path(part).read_bytes()).decode().splitlines()
    records = [json.loads(line) for line in lines_written]
    assert Counter(
        (record["prompt"], record["response"], record["metadata"]["modelId"], record["score"])
        for record in records
    ) == Counter(
        (line["prompt"], line["response"], line["modelId"], expected(line)[1])
        for line in lines
        if expected(line)[0] == "scored"
    )


def test_an_operator_makes_an_organisation_that_sees_nothing_of_others(
    command_line: CommandLine, profile: LocalProfile
) -> None:
    created = command_line.read("ops", "create-organization", "Second")
    assert created["organization"]["id"] != profile.organization_id
    command_line.environment["AUTOTUNE_API_KEY"] = created["apiKey"]
    me = command_line.read("keys", "me")
    assert me["organizationId"] == created["organization"]["id"]
    assert command_line.run("graders", "list", "--json").stdout.strip() in {"", "[]"}


def test_a_key_that_is_none_ends_with_status_3(command_line: CommandLine) -> None:
    command_line.environment["AUTOTUNE_API_KEY"] = f"key_{'0' * 26}.{'0' * 64}"
    failed = command_line.run("tasks", "list", expect=3)
    assert "unauthenticated" in failed.stderr
