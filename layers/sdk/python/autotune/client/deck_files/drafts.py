"""What has been read of a deck file so far, with the lines on which it stands."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from autotune.client.deck_files.faults import DeckFileFault, FaultError, Path
from autotune.client.deck_files.levels import LEVEL_NAMES
from autotune.client.deck_files.toml_blocks import Place
from autotune.protocol.problems import field_problems

_OWN_WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "no field of a deck file has this name",
}


class Draft:
    """Values as the models of a deck file take them, their places, and faults.

    Attributes:
        values: of the deck.
        graders: each grader's values.
    """

    def __init__(self) -> None:
        self.graders: list[dict[str, Any]] = []
        self.values: dict[str, Any] = {"graders": self.graders}
        self._places: dict[Path, Place] = {}
        self._faults: list[FaultError] = []

    @contextmanager
    def keeping_faults(self) -> Iterator[None]:
        """Keep a fault that ends the reading of a part."""
        try:
            yield
        except FaultError as fault:
            self._faults.append(fault)

    def place(self, path: Path, place: int | Place) -> None:
        """Say where a value stands, and what is below it."""
        self._places[path] = (lambda _: place) if isinstance(place, int) else place

    def give(self, path: Path, value: Any, place: int | Place) -> None:
        """Keep a value.

        Raises:
            FaultError: it was given before.
        """
        within: Any = self.values
        for name in path[:-1]:
            within = within[name]
        if path[-1] in within:
            line = place if isinstance(place, int) else place(())
            raise FaultError(line, f"is given on line {self.line_of(path)} already", path)
        self.place(path, place)
        within[path[-1]] = value

    def line_of(self, path: Path) -> int:
        """Return the line on which a value stands, or what it is within."""
        for length in range(len(path), -1, -1):
            place = self._places.get(path[:length])
            if place is not None:
                return place(path[length:])
        return 1

    def faults(self, error: ValidationError | None) -> list[DeckFileFault]:
        """Return what was wrong, and what pydantic found besides."""
        said = [DeckFileFault(one.line, self._name_of(one.path), str(one)) for one in self._faults]
        known = [one.path for one in self._faults]
        found = [] if error is None else error.errors(include_url=False, include_input=False)
        problems = [] if error is None else field_problems(error)
        for one, problem in zip(found, problems, strict=True):
            path = one["loc"]
            if not any(path[: len(faulty)] == faulty for faulty in known if faulty):
                expected = _expected(one) or problem.expected
                said.append(DeckFileFault(self.line_of(path), self._name_of(path), expected))
        return said

    def _name_of(self, path: Path) -> str:
        """Return how a person finds a field, such as ``grader Tone, level +3``."""
        if path[:1] != ("graders",) or len(path) < 2:
            return _dotted(path)
        number = int(path[1])
        name = self.graders[number].get("name")
        parts = [f"grader {name if isinstance(name, str) else number + 1}"]
        rest = tuple(part for part in path[2:] if part != "rubric")
        if rest[:1] == ("levels",) and len(rest) == 2:
            parts.append(f"level {LEVEL_NAMES[int(rest[1])]}")
        elif rest[:1] == ("examples",) and len(rest) > 1:
            parts += [f"example {int(rest[1]) + 1}", _dotted(rest[2:])]
        else:
            parts.append(_dotted(rest))
        return ", ".join(part for part in parts if part)


def _expected(error: ErrorDetails) -> str | None:
    """Return what was expected where pydantic's words would mislead."""
    context = error.get("ctx", {})
    if error["type"] == "too_long" and context.get("field_type") == "Value":
        # A text: pydantic counts its characters as items.
        longest, actual = context["max_length"], context["actual_length"]
        return f"expected at most {longest} characters, not {actual}"
    return _OWN_WORDS.get(error["type"])


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
