"""Python imports this first in each process whose ``PYTHONPATH`` has its folder (``turning.py``).

Code of functions reads the time through ``Clock.now`` alone. Once it is imported, seconds are added
to what it returns: those that the file has which ``TURNED_CLOCK_FILE`` names.
"""

import os
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

_CLOCK = "autotune_platform.runtime.clock"


class Turning(MetaPathFinder):
    """Finds the module of the clock as anybody does, and has its time turned once it is loaded."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the clock is; None for any other module."""
        if fullname != _CLOCK:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_turned(module: ModuleType) -> None:
                load(module)
                module.Clock.now = self._turned(module.Clock.now)

            spec.loader.exec_module = load_turned  # type: ignore[method-assign]
        return spec

    def _turned(self, now: Callable[[Any], datetime]) -> Callable[[Any], datetime]:
        return lambda clock: now(clock) + timedelta(seconds=float(self._file.read_text()))


if "TURNED_CLOCK_FILE" in os.environ:
    sys.meta_path.insert(0, Turning(Path(os.environ["TURNED_CLOCK_FILE"])))
