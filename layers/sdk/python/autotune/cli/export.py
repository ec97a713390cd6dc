"""``autotune export``: scores as training data."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated, Any

import typer

from autotune.cli.invocation import AsJson, Invocation, note, require_id, stop
from autotune.protocol.completions import Completion, Score, ScoredCompletion

STDOUT = "-"
_PAGE_SIZE = 100
_PENDING = (
    "pending completions are not counted here; "
    "`autotune submit` of the same file tells when all are decided"
)


def export(
    ctx: typer.Context,
    task: Annotated[str, typer.Option(help="Id of the task.")],
    out: Annotated[str, typer.Option("--out", "-o", help="File to write; - for stdout.")],
    as_json: AsJson = False,
) -> None:
    """Write a task's scored completions as JSONL, one training record a line.

    What abstained, failed or was canceled has no score and is left out; how many is told. What is
    still pending is left out too and cannot be counted here: `autotune submit` of the same file
    tells when all are decided. The file appears whole or not at all.
    """
    invocation = Invocation.of(ctx, as_json)
    require_id("task", task, name="task", option="--task")
    left_out: Counter[str] = Counter()
    exported = 0
    with invocation.client() as client, _destination(out) as destination:
        verdicts = client.scores.list(task_id=task, include_completion=True, page_size=_PAGE_SIZE)
        for verdict in verdicts:
            if verdict.score is None:
                left_out[verdict.state] += 1
            elif verdict.completion is None:
                left_out["text deleted"] += 1
            else:
                record = training_record(verdict, verdict.completion, verdict.score)
                destination.write(_json_line(record))
                exported += 1
    if invocation.as_json and out != STDOUT:
        # The verdicts of a task say nothing of what has none yet: null, not 0.
        counts = {"exported": exported, "leftOut": dict(left_out), "pending": None}
        invocation.show_json({"file": out, **counts})
    note(_told(out, exported, left_out))
    note(_PENDING)


def training_record(
    verdict: ScoredCompletion, completion: Completion, score: Score
) -> dict[str, Any]:
    """Return one record for reward modelling: prompt, response, score and where they come from."""
    record: dict[str, Any] = {
        "prompt": completion.prompt,
        "response": completion.response,
        "score": score.value,
    }
    if score.dimensions:
        record["dimensions"] = {each.name: each.value for each in score.dimensions}
    record["metadata"] = {
        "taskId": verdict.task_id,
        "modelId": completion.model_id,
        "completionId": verdict.completion_id,
        "graderId": verdict.grader_id,
        "graderVersion": score.grader_version,
        "confidence": score.confidence,
    }
    record["completionMetadata"] = completion.metadata
    return record


@contextmanager
def _destination(out: str) -> Iterator[IO[bytes]]:
    if out == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(out)
    try:
        with NamedTemporaryFile(
            dir=target.parent,
            prefix=f".{target.name}.",
            suffix=".partial",
            delete=False,
        ) as partial:
            path = Path(partial.name)
            try:
                yield partial
                partial.flush()
                os.fsync(partial.fileno())
                path.chmod(0o666 & ~_umask())
                path.replace(target)
            finally:
                path.unlink(missing_ok=True)
    except OSError as error:
        stop(f"cannot write {target}: {error.strerror}")


def _json_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _told(out: str, exported: int, left_out: Counter[str]) -> str:
    where = "stdout" if out == STDOUT else out
    told = f"{exported} records to {where}"
    if left_out:
        listed = ", ".join(f"{count} {state}" for state, count in sorted(left_out.items()))
        told += f"; left out: {listed}"
    return told
