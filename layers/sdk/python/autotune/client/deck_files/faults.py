"""What is wrong in a deck file: which line, which field, and what was expected there."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.client.errors import InvalidInputError
from autotune.protocol.problems import FieldProblem

_FAULTS_SAID = 5


Path = tuple[int | str, ...]
"""Where a value is within a deck, by the names of its fields."""


@dataclass(frozen=True)
class DeckFileFault:
    """One fault of a deck file.

    Attributes:
        line: where it is, from 1.
        field: what of the deck it is about; empty where it is the text as such.
        expected: what should be there, with the limit where one is exceeded.
    """

    line: int
    field: str
    expected: str

    def __str__(self) -> str:
        named = f"{self.field}: " if self.field else ""
        return f"line {self.line}: {named}{self.expected}"


class DeckFileError(InvalidInputError):
    """A deck file that cannot be read.

    Attributes:
        source: the name of the file.
        faults: what is wrong, by line.
    """

    def __init__(self, source: str, faults: Sequence[DeckFileFault]) -> None:
        super().__init__([FieldProblem(field=fault.field, expected=str(fault)) for fault in faults])
        self.source = source
        self.faults = tuple(sorted(faults, key=lambda fault: fault.line))

    def __str__(self) -> str:
        said = [str(fault) for fault in self.faults[:_FAULTS_SAID]]
        if len(self.faults) > _FAULTS_SAID:
            said.append(f"and {len(self.faults) - _FAULTS_SAID} more")
        return f"{self.source}, {'; '.join(said)}"


class FaultError(Exception):
    """Ends the reading of one part of a file; the reader goes on with the next.

    Attributes:
        line: where the fault is.
        expected: what should be there.
        path: of the field within the deck.
    """

    def __init__(self, line: int, expected: str, path: Path = ()) -> None:
        super().__init__(expected)
        self.line = line
        self.expected = expected
        self.path = path
