"""What JSON takes of Lambda's limit for answers."""

import json

from pydantic import BaseModel


def response_bytes(part: BaseModel) -> int:
    """Return what a part of an answer takes of Lambda's 6 MB: its JSON is wrapped in JSON again."""
    return len(json.dumps(part.model_dump_json(by_alias=True), ensure_ascii=False).encode())
