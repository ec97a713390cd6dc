"""How many functions something calls, built-in ones included: its work, under any load."""

import sys
from collections.abc import Callable
from typing import Any


def python_calls(act: Callable[[], object]) -> int:
    """Return how many functions are called, when it is done for the second time."""
    act()
    made = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal made
        made += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return made
