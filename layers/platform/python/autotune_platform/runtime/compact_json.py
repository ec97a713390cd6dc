"""JSON as it is stored and sent: without spaces, its names in their order, in UTF-8."""

import json
from collections.abc import Callable
from typing import Any, Final

compact: Final[Callable[[Any], str]] = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False
).encode
"""Return a value as JSON; ``json.dumps`` makes an encoder of its own each time it has options.

Raises:
    TypeError, ValueError: it is no JSON.
"""
