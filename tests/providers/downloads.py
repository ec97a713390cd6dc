"""What happens to results on their way: cut, garbled, stalled, or something else in their place."""

import json
from typing import Any

from tests.providers.state import World
from tests.providers.wire import Answer, ProviderError, Request

_ID_KEYS = ("custom_id", "key", "recordId")


def spoil(world: World, request: Request, answer: Answer) -> Answer:
    """Springs the traps of contents that are set; the stored content stays as it was."""
    if answer.status >= 400:
        return answer

    def take(name: str) -> dict[str, Any] | None:
        return world.traps.take(name, request.provider, batch_id=answer.batch_id, quietly=True)

    def note(name: str, lines: list[bytes]) -> None:
        world.traps.note(name, request.provider, answer.batch_id, _ids(lines))

    if take("download_502") is not None:
        note("download_502", [])
        raise ProviderError(502, "server", "Bad gateway.")
    if answer.jsonl and answer.body:
        answer.body = _spoiled_lines(take, note, answer.body)
    half = len(answer.body) // 2
    if (params := take("download_cut")) is not None:
        note("download_cut", [])
        answer.cut_at = int(len(answer.body) * float(params.get("share", 0.5)))
    elif (params := take("download_stalls")) is not None:
        note("download_stalls", [])
        answer.stall_at, answer.stall_seconds = half, float(params.get("stall_seconds", 30))
    return answer


def _spoiled_lines(take: Any, note: Any, body: bytes) -> bytes:
    lines = body.splitlines(keepends=True)
    if (params := take("jsonl_cut")) is not None:
        first = min(int(len(lines) * float(params.get("share", 0.5))), len(lines) - 1)
        note("jsonl_cut", lines[first:])
        lines = [*lines[:first], lines[first][: len(lines[first]) // 2]]
    if take("jsonl_bad_utf8") is not None:
        middle = len(lines) // 2
        note("jsonl_bad_utf8", lines[middle : middle + 1])
        line = lines[middle]
        lines[middle] = line[: len(line) // 2] + b"\xff\xfe" + line[len(line) // 2 :]
    if take("jsonl_empty_lines") is not None:
        note("jsonl_empty_lines", [])
        lines = [b"\n", *(part for line in lines for part in (line, b"\r\n"))]
    if (params := take("jsonl_long_line")) is not None:
        note("jsonl_long_line", [])
        filler = "x" * int(params.get("bytes", 10_000_000))
        long_line = {"custom_id": "nobody", "key": "nobody", "recordId": "nobody", "text": filler}
        lines.insert(len(lines) // 2, json.dumps(long_line).encode() + b"\n")
    return b"".join(lines)


def _ids(lines: list[bytes]) -> list[str]:
    found = []
    for line in lines:
        try:
            document = json.loads(line)
        except ValueError:
            continue
        found += [str(document[key]) for key in _ID_KEYS if key in document]
    return found
