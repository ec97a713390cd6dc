"""What of an answer is embedded."""

import json
from collections.abc import Iterator
from typing import Any


def text_of(value: Any) -> str:
    """Return the values of an answer, in the order of its fields' names, each on a line.

    Names of fields are left out: both answers have the same, so that they would make any two alike.

    Args:
        value: JSON of some 10,000 values at most.
    """
    return "\n".join(_leaves(value))


def _leaves(value: Any) -> Iterator[str]:
    pending = [value]  # the next one last: answers may nest deeper than Python calls
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            pending.extend(one[name] for name in sorted(one, reverse=True))
        elif isinstance(one, list):
            pending.extend(reversed(one))
        else:
            yield one if isinstance(one, str) else json.dumps(one)
