"""Which traps are set, and which have fired: chosen by count, by row, or by a seeded chance."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.providers.catalogue import CATALOGUE, ROW


@dataclass
class Armed:
    """A trap that is set.

    Attributes:
        times: How often it fires; None for ever.
        after: How many occasions pass before it may fire.
        probability: Chance of firing at each further occasion, drawn from the seed.
        rows: Indices of rows, for traps of rows; None for any.
        contains: A text that the row's prompt has to hold.
        params: What the catalogue names, such as ``status`` or ``seconds``.
    """

    id: str
    name: str
    provider: str | None = None
    model: str | None = None
    times: int | None = None
    after: int = 0
    probability: float = 1.0
    rows: list[int] | None = None
    contains: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    occasions: int = 0
    fired: int = 0


@dataclass(frozen=True)
class Firing:
    """One time that a trap fired, and the rows or executions that it touched."""

    trap: str
    at: float
    provider: str
    batch_id: str | None
    custom_ids: tuple[str, ...]
    tokens: tuple[str, ...]
    excuses: bool


class Traps:
    """Traps that are set, and what became of them."""

    def __init__(self, seed: int, now: Callable[[], float]) -> None:
        self._seed = seed
        self._now = now
        self._sequence = 0
        self.armed: list[Armed] = []
        self.firings: list[Firing] = []

    def arm(self, name: str, **fields: Any) -> Armed:
        """Sets a trap; unless told otherwise it fires once, and traps of rows for ever.

        Raises:
            ValueError: If there is no trap of that name.
        """
        trap = CATALOGUE.get(name)
        if trap is None:
            raise ValueError(f"no trap is called {name!r}")
        self._sequence += 1
        chosen = any(fields.get(key) is not None for key in ("rows", "contains", "probability"))
        if "times" not in fields and not (trap.level == ROW and chosen):
            fields["times"] = 1
        armed = Armed(id=f"trap-{self._sequence}", name=name, **fields)
        self.armed.append(armed)
        return armed

    def disarm(self) -> None:
        """Takes all away; what has fired stays counted."""
        self.armed.clear()

    def wants(self, name: str) -> bool:
        return any(one.name == name for one in self.armed)

    def take(
        self,
        name: str,
        provider: str,
        *,
        model: str = "",
        batch_id: str | None = None,
        row: int | None = None,
        custom_id: str | None = None,
        prompt: str = "",
        quietly: bool = False,
    ) -> dict[str, Any] | None:
        """The parameters of a set trap that fires now, else None."""
        for armed in self.armed:
            if armed.name != name or armed.provider not in (None, provider):
                continue
            if armed.model not in (None, model) or not self._meant(armed, row, prompt):
                continue
            if armed.times is not None and armed.fired >= armed.times:
                continue
            armed.occasions += 1
            if armed.occasions <= armed.after or not self._drawn(armed):
                continue
            armed.fired += 1
            if not quietly:
                self.note(name, provider, batch_id, [custom_id] if custom_id else [])
            return armed.params
        return None

    def note(
        self,
        name: str,
        provider: str,
        batch_id: str | None = None,
        custom_ids: Sequence[str] = (),
        tokens: Sequence[str] = (),
    ) -> None:
        """Counts a firing; for traps that nobody sets too."""
        excuses = CATALOGUE[name].excuses
        ids, marks = tuple(custom_ids), tuple(tokens)
        self.firings.append(Firing(name, self._now(), provider, batch_id, ids, marks, excuses))

    def report(self) -> dict[str, Any]:
        return {
            "armed": [asdict(one) for one in self.armed],
            "fired": dict(Counter(one.trap for one in self.firings)),
            "firings": [asdict(one) for one in self.firings],
        }

    def _meant(self, armed: Armed, row: int | None, prompt: str) -> bool:
        if armed.rows is not None and row not in armed.rows:
            return False
        return armed.contains is None or armed.contains in prompt

    def _drawn(self, armed: Armed) -> bool:
        if armed.probability >= 1:
            return True
        text = f"{self._seed}|{armed.id}|{armed.name}|{armed.occasions}"
        draw = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
        return draw < armed.probability
