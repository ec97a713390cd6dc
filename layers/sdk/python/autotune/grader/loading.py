"""Finding the grader that a command line names: ``path/to/file.py[:name]`` or ``module:name``."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from autotune.grader.definition import Grader


class GraderTargetError(LookupError):
    """The target names no file, no module, or not exactly one grader."""


def load_grader(target: str) -> Grader[..., Any]:
    """Return the grader that ``target`` names.

    Without a name the module must hold exactly one grader. The file's folder (or the current one,
    for a module) comes first on ``sys.path``, so that the grader's own modules are found.

    Raises:
        GraderTargetError: nothing fits, or more than one grader does.
    """
    place, _, name = target.rpartition(":")
    if not place or not name.isidentifier():
        place, name = target, ""
    module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    if name:
        found = getattr(module, name, None)
        if not isinstance(found, Grader):
            raise GraderTargetError(f"{place} has no grader named {name}; {_graders_of(module)}")
        return found
    graders = _graders_in(module)
    if len(graders) != 1:
        raise GraderTargetError(
            f"{place} must be followed by :name of a grader; {_graders_of(module)}"
        )
    return next(iter(graders.values()))


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise GraderTargetError(f"there is no file {path}")
    path = path.resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise GraderTargetError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _load_module(name: str) -> ModuleType:
    is_dotted_name = all(part.isidentifier() for part in name.split("."))
    if not is_dotted_name or Path(name).is_file():
        raise GraderTargetError(f"{name} is neither a .py file nor the name of a module")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise  # the grader's own missing import, which its traceback explains best
        raise GraderTargetError(f"there is no module {name}") from error


def _graders_in(module: ModuleType) -> dict[str, Grader[..., Any]]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Grader)}


def _graders_of(module: ModuleType) -> str:
    names = sorted(_graders_in(module))
    return f"it has {', '.join(names)}" if names else "it has none made by @grader"
