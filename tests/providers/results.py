"""The results of a batch as lines, with what its traps do to them."""

import json
import random
import re
from collections.abc import Callable, Iterable
from typing import Any

from tests.providers.lifecycle import spring
from tests.providers.state import Batch, Row, World

_VERDICT = re.compile(r"VERDICT: ([\w-]+)")


def result_lines(
    world: World,
    batch: Batch,
    rows: Iterable[Row],
    line_of: Callable[[Row], dict[str, Any]],
    id_key: str,
) -> list[dict[str, Any]]:
    """What a batch tells of these rows, once it is over; the same however often it is asked for."""
    lines = []
    for row in rows:
        if "rows_missing" in row.traps and row.ended == "succeeded":
            world.traps.note("rows_missing", batch.provider, batch.id, [row.custom_id])
        else:
            lines.append(line_of(row))
    draw = random.Random(f"{world.seed}|{batch.id}")
    if lines:
        _more(world, batch, lines, id_key, draw)
    if spring(world, batch, "rows_shuffled") is not None:
        draw.shuffle(lines)
    return lines


def _more(
    world: World, batch: Batch, lines: list[dict[str, Any]], id_key: str, draw: random.Random
) -> None:
    first = list(lines)
    if (params := spring(world, batch, "rows_doubled_alike")) is not None:
        lines += draw.sample(first, min(int(params.get("count", 1)), len(first)))
    if (params := spring(world, batch, "rows_doubled_conflicting")) is not None:
        chosen = draw.sample(first, min(int(params.get("count", 1)), len(first)))
        lines += [_contradicted(world, line) for line in chosen]
    if (params := spring(world, batch, "rows_unknown_id")) is not None:
        for number in range(int(params.get("count", 1))):
            lines.append({**draw.choice(first), id_key: f"nobody-{number}"})
    if (params := spring(world, batch, "rows_foreign_id")) is not None:
        others = [
            row.custom_id
            for other in world.batches.values()
            if other is not batch and other.provider == batch.provider
            for row in other.rows
        ]
        for custom_id in others[: int(params.get("count", 1))]:
            lines.append({**draw.choice(first), id_key: custom_id})


def _contradicted(world: World, line: dict[str, Any]) -> dict[str, Any]:
    """The same line with another text: the token stays, the verdict turns."""
    labels = world.answers.labels

    def turned(match: re.Match[str]) -> str:
        others = [label for label in labels if label != match[1]]
        return f"VERDICT: {(others or ['other'])[0]}"

    text = json.dumps(line)
    changed = _VERDICT.sub(turned, text)
    if changed == text:
        changed = text.replace("] ", "] On second thought: ", 1)
    return json.loads(changed)


def as_jsonl(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
