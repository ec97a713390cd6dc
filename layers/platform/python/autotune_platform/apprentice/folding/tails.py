"""The last pairs of versions, as a process remembers them.

A window of 10,000 has a say of 25,000 pairs. Reading them for each new one would cost more than all
else; only those that others added since are read.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.window import WindowSettings

_REMEMBERED = 32


@dataclass(frozen=True)
class _Tail:
    sequence: int
    needed: int
    pairs: Sequence[Pair]


class Tails:
    """Remembers the last drawn pairs of some versions."""

    def __init__(self, repository: EvidenceRepository) -> None:
        self._repository = repository
        self._tails: OrderedDict[tuple[str, int, bool], _Tail] = OrderedDict()

    def get(
        self, task_id: str, version: int, *, through: int, window: WindowSettings
    ) -> list[Pair]:
        """Return the last pairs that count up to a sequence number, in their order.

        Pairs that are too old for the window may be missing.
        """
        known = self._tails.get((task_id, version, window.is_gated))
        if known is None or known.sequence > through or known.needed < window.pairs_needed:
            pairs = self._read(task_id, version, through, window)
        elif known.sequence == through:
            pairs = list(known.pairs)
        else:
            newer = self._repository.pairs(task_id, version, after=known.sequence)
            drawn = [
                one
                for one in newer
                if one.counts(is_gated=window.is_gated) and one.sequence <= through
            ]
            pairs = [*known.pairs, *drawn]
        self.keep(task_id, version, through=through, pairs=pairs, window=window)
        return pairs[-window.pairs_needed :]

    def keep(
        self,
        task_id: str,
        version: int,
        *,
        through: int,
        pairs: Sequence[Pair],
        window: WindowSettings,
    ) -> None:
        """Remember the last pairs that count up to a sequence number, all of which are stored."""
        needed, key = window.pairs_needed, (task_id, version, window.is_gated)
        self._tails[key] = _Tail(through, needed, tuple(pairs[-needed:]))
        self._tails.move_to_end(key)
        while len(self._tails) > _REMEMBERED:
            self._tails.popitem(last=False)

    def _read(self, task_id: str, version: int, through: int, window: WindowSettings) -> list[Pair]:
        if through == 0:
            return []
        found: list[Pair] = []
        latest = 0.0
        for page in self._repository.latest_pairs(task_id, version, through=through):
            drawn = [pair for pair in page if pair.counts(is_gated=window.is_gated)]
            found += drawn
            latest = max([latest, *(pair.at for pair in page)])
            is_old = all(latest - pair.at > window.max_age_seconds for pair in page)
            if is_old or len(found) >= window.pairs_needed:
                break
        return found[: window.pairs_needed][::-1]
