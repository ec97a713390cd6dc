"""Reads the input file of a batch as OpenAI and Azure do: line by line, and every fault is told."""

import json
from collections import Counter
from typing import Any

from tests.providers import strict
from tests.providers.answers import Ask
from tests.providers.dialects import DIALECTS
from tests.providers.limits import check_id, enqueued_tokens, limit
from tests.providers.state import Batch, Row, World
from tests.providers.wire import ProviderError

CHAT = ("/v1/chat/completions", "/chat/completions")
_LINE = strict.shape(
    required={
        "custom_id": strict.text(least=1),
        "method": strict.choice("POST"),
        "url": strict.string,
        "body": strict.mapping,
    }
)
Fault = tuple[str, str, int | None]


def read_input(world: World, batch: Batch, content: bytes) -> None:
    """Reads the lines into rows; what is wrong with them fails the batch when it is validated."""
    lines = content.split(b"\n")
    if not lines[-1].strip():
        lines.pop()
    faults: list[Fault] = []
    ids: Counter[str] = Counter()
    for number, line in enumerate(lines, 1):
        document = _document(world, batch, line, number, faults)
        if document is None:
            continue
        ids[document["custom_id"]] += 1
        if ids[document["custom_id"]] == 2:
            faults.append(("duplicate_custom_id", "The custom_id is not unique.", number))
        if document["url"] not in CHAT:
            faults.append(("url_mismatch", "The url is not the batch's endpoint.", number))
        batch.rows.append(_row(batch, number - 1, document))
    faults += _as_a_whole(world, batch, len(lines))
    if faults:
        batch.error = faults[0]
        batch.extra["errors"] = faults


def _document(world: World, batch: Batch, line: bytes, number: int, faults: list[Fault]) -> Any:
    """A line as JSON; None, and a fault more, if it is none that is admitted."""
    try:
        document = json.loads(line)
        _LINE(document, "")
        check_id(world, batch.provider, document["custom_id"])
    except ValueError:
        faults.append(("invalid_json_line", "This line is not parseable as valid JSON.", number))
    except (strict.RefusedError, ProviderError) as error:
        faults.append(("invalid_request", str(error), number))
    else:
        return document
    return None


def _as_a_whole(world: World, batch: Batch, lines: int) -> list[Fault]:
    """What is wrong with the file where no single line is."""
    faults: list[Fault] = []
    models = {row.ask.model for row in batch.rows if row.ask}
    batch.model = min(models, default="")
    if len(models) > 1:
        faults.append(("model_mismatch", "The lines ask for more than one model.", None))
    if not lines:
        faults.append(("empty_file", "The file holds no request.", None))
    most = limit(world, batch.provider, "rows")
    if most is not None and lines > most:
        over = {"provider": batch.provider, "limit": "rows", "most": most, "given": lines}
        world.broken_limits.append(over)
        faults.append(("too_many_tasks", f"At most {most} requests are allowed.", None))
    most = limit(world, batch.provider, "enqueued_tokens")
    tokens = sum(row.ask.input_tokens for row in batch.rows if row.ask)
    tokens += enqueued_tokens(world, batch.provider, batch.model)
    if most is not None and tokens > most:
        over = {
            "provider": batch.provider,
            "limit": "enqueued_tokens",
            "most": most,
            "given": tokens,
        }
        world.broken_limits.append(over)
        message = f"Enqueued token limit reached for {batch.model}. Limit: {most} enqueued tokens."
        faults.append(("token_limit_exceeded", message, None))
    return faults


def _row(batch: Batch, index: int, document: dict[str, Any]) -> Row:
    ask: Ask | None = None
    refusal = None
    try:
        ask = DIALECTS[batch.provider].read(document["body"])
    except strict.RefusedError as error:
        refusal = str(error)
    except KeyError:
        refusal = "you must provide a model parameter"
    return Row(
        index=index,
        custom_id=document["custom_id"],
        ask=ask,
        raw=document["body"],
        refusal=refusal,
    )
