"""JSON as it is stored, sent and hashed: without spaces, in UTF-8 and not escaped to ASCII."""

import json
from collections.abc import Callable
from typing import Any, Final

# ``json.dumps`` makes an encoder of its own each time it has options.
compact: Final[Callable[[Any], str]] = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False
).encode
"""Return a value as JSON with names in their order.

Raises:
    TypeError, ValueError: it is no JSON.
"""

compact_sorted: Final[Callable[[Any], str]] = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, sort_keys=True
).encode
"""Return a value as JSON with names sorted: the same value is always the same text.

Raises:
    TypeError, ValueError: it is no JSON.
"""
