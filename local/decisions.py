"""What MiniStack decided on each request of a function, each kind of decision once, in a file."""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

DECISIONS_FILE = "decisions.jsonl"

# Where texts differ from request to request or from stack to stack.
_ID = re.compile(r"(?<![a-z])([a-z]{3,4})_[0-9a-v]{26}")
_DIGEST = re.compile(r"[0-9a-f]{32,64}")
_TIME = re.compile(r"\d{4}-\d\d(-\d\d)?(T[0-9:.]+Z?)?")
_OF_SAGEMAKER = re.compile(
    r".*:(training-job|model|endpoint|endpoint-config|inference-component)/.+", re.DOTALL
)
_NUMBER = re.compile(r"(?<=#)\d+$")
_QUEUE = re.compile(r"(?<=^queue#).+")


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One kind of decision.

    Attributes:
        function: the function's construct, such as ``GradeChunk``.
        action: such as ``dynamodb:PutItem``.
        resource: logical id of the resource without its digest, and what follows in the ARN, such
            as ``CompletionsTable/index/scoresByTask``.
        keys: partition keys that the request names, with ``*`` for what differs in each.
        is_allowed: whether the role may.
    """

    function: str
    action: str
    resource: str
    keys: tuple[str, ...] = ()
    is_allowed: bool


class DecisionRecord:
    """A file that each new kind of decision is added to, also after a restart.

    Args:
        file: JSON, a line for each decision.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self._known = set(read_decisions(file))

    def add(self, decision: Decision) -> None:
        """Write a decision, unless it is there."""
        with self._lock:
            if decision not in self._known:
                self._known.add(decision)
                with self._file.open("a") as file:
                    file.write(json.dumps(asdict(decision), separators=(",", ":")) + "\n")


def read_decisions(file: Path) -> list[Decision]:
    """Return what a file holds; nothing if there is none."""
    if not file.exists():
        return []
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [Decision(**{**line, "keys": tuple(line["keys"])}) for line in lines]


def patterns(keys: Iterable[str]) -> tuple[str, ...]:
    """Return what keys have in common with all others of their kind, each once."""
    return tuple(sorted({pattern(key) for key in keys}))


def kind_at_sagemaker(arn: str) -> str:
    """Return what SageMaker's resource is, such as ``model/*``; other texts as they are.

    Its names are made at run time, and each is another: no template has them.
    """
    return _OF_SAGEMAKER.sub(r"\1/*", arn)


def pattern(text: str) -> str:
    """Return a text with ``*`` for its ids, digests, times, numbers of shards and queues."""
    text = _ID.sub(r"\1_*", kind_at_sagemaker(text))
    for differing in (_DIGEST, _TIME, _NUMBER, _QUEUE):
        text = differing.sub("*", text)
    return text
