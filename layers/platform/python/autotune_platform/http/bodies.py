"""How large bodies are, and may be."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from autotune.protocol.limits import MAX_REQUEST_BYTES


def response_bytes(part: BaseModel) -> int:
    """Return what a part of an answer takes of Lambda's 6 MB: its JSON is wrapped in JSON again."""
    return len(json.dumps(part.model_dump_json(by_alias=True), ensure_ascii=False).encode())


def most_bytes(parameters: Sequence[Any]) -> int:
    """Return how large a body may be that nobody signed, by the parameter that it becomes."""
    models = [one.type_ for one in parameters]
    return getattr(models[0], "most_bytes", MAX_REQUEST_BYTES) if models else MAX_REQUEST_BYTES
