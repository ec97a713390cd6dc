"""What is wrong in an ``apprentice.yaml``: which line, which key, and what was expected there."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.client.errors import InvalidInputError
from autotune.protocol.problems import FieldProblem

_FAULTS_SAID = 20

Path = tuple[int | str, ...]
"""Where a value is within the file, by its keys and its places in lists."""


@dataclass(frozen=True, order=True)
class ApprenticeFileFault:
    """One fault of the file.

    Attributes:
        line: where it is, from 1.
        key: such as ``tasks.support.thresholds``; empty where it is the text as such.
        expected: what should be there, with the limit where one is exceeded.
    """

    line: int
    key: str
    expected: str


class ApprenticeFileError(InvalidInputError):
    """A file of which nothing is taken, because something in it cannot be.

    Attributes:
        source: the name of the file.
        faults: what is wrong, each once, by line.
    """

    def __init__(self, source: str, faults: Sequence[ApprenticeFileFault]) -> None:
        super().__init__([FieldProblem(field=one.key, expected=one.expected) for one in faults])
        self.source = source
        self.faults = tuple(sorted(set(faults)))

    @property
    def lines(self) -> list[str]:
        """What is wrong, one fault a line: ``apprentice.yaml:12: tasks.support: …``."""
        said = []
        for fault in self.faults[:_FAULTS_SAID]:
            named = f"{fault.key}: " if fault.key else ""
            said.append(f"{self.source}:{fault.line}: {named}{fault.expected}")
        if len(self.faults) > _FAULTS_SAID:
            said.append(f"and {len(self.faults) - _FAULTS_SAID} more")
        return said

    def __str__(self) -> str:
        return "; ".join(self.lines)


def dotted(path: Path) -> str:
    """Return a path as people write it, such as ``remote.additional[0].model``."""
    said = ""
    for part in path:
        if isinstance(part, int):
            said += f"[{part}]"
        else:
            said += f".{part}" if said else part
    return said
