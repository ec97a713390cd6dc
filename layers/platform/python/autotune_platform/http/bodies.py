"""JSON of requests and answers: what is read of it, and what it takes of Lambda's limit."""

import json
import math
from typing import Any, NoReturn

from pydantic import BaseModel


def response_bytes(part: BaseModel) -> int:
    """Return what a part of an answer takes of Lambda's 6 MB: its JSON is wrapped in JSON again."""
    return len(json.dumps(part.model_dump_json(by_alias=True), ensure_ascii=False).encode())


def parse_json(text: str) -> Any:
    """Parse a request body as strict JSON.

    Python's parser takes NaN and Infinity, which no other JSON reader does, makes infinities of
    numbers such as 1e999, and gives up on deep nesting with an error that is not about JSON.

    Raises:
        json.JSONDecodeError: the body is not JSON, holds NaN, Infinity or a number beyond what is
            counted with, or nests too deep.
    """

    def refuse(constant: str) -> NoReturn:
        raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)

    def finite(number: str) -> float:
        found = float(number)
        return found if math.isfinite(found) else refuse(number)

    try:
        return json.loads(text, parse_constant=refuse, parse_float=finite)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:  # nested too deep; an integer of 5,000 digits
        raise json.JSONDecodeError("beyond what can be read", "", 0) from error
