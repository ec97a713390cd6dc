"""Evidence that is being folded anew: how far that has come, and where it is stored.

``pk=apt_…, sk=refold#000001`` is there while evidence of a version is not of the present rules. It
is open in the index of what is due, and each write of it requires its revision: of two that go on
with the same one, one is refused.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.folding.advancing import Advance, Raised
from autotune_platform.apprentice.folding.items import REFOLD, refold_key
from autotune_platform.apprentice.folding.models import StoredEvidence, scores_json, scores_of
from autotune_platform.apprentice.folding.repository import OPEN_SHARDS
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.window import WindowSettings
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.due_index import OPEN_SHARD, DueIndex
from autotune_platform.storage.item_format import moment
from autotune_platform.storage.table import Table

__all__ = ["REFOLD", "Refold", "RefoldRepository"]


class Refold(FrozenModel):
    """How far a version's pairs are folded by rules that its evidence is not of.

    Attributes:
        revision: how often it was written.
        known_through: the last pair when it was opened: alarms until then are not published, as
            they were none when those pairs came.
        sequence: the last pair that was folded.
        state: the evidence so far, with its rules, as JSON; empty before the first step.
        scores: how often each score came since the last alarm, as JSON.
        raised: what is to be published once all pairs are folded, as JSON.
    """

    organization_id: str
    task_id: str
    task_name: str
    version: int
    revision: int = 0
    known_through: int
    sequence: int = 0
    state: str = ""
    scores: str = "{}"
    raised: str = "[]"

    def advance(self, rules: Rules, window: WindowSettings) -> Advance:
        """Return where it stands, without the last pairs.

        Raises:
            UnusableEvidenceError: it was folded by other rules, or has not begun.
        """
        evidence = Evidence.from_json(self.state, rules)
        raised = [Raised(kind, Pair(*of_pair)) for kind, *of_pair in json.loads(self.raised)]
        return Advance(rules, window, evidence, scores=scores_of(self.scores), raised=raised)

    def after(self, advance: Advance) -> "Refold":
        """Return it as it stands after some pairs more; no more is kept than is published."""
        raised = [
            [one.kind, one.pair.sequence, one.pair.score, one.pair.is_drawn, one.pair.at]
            for one in self.told(advance)
        ]
        return self.model_copy(
            update={
                "revision": self.revision + 1,
                "sequence": advance.evidence.sequence,
                "state": advance.evidence.to_json(advance.rules),
                "scores": scores_json(advance.scores),
                "raised": json.dumps(raised, allow_nan=False, separators=(",", ":")),
            }
        )

    def told(self, advance: Advance) -> Sequence[Raised]:
        """Return what is to be published: an emergency, and the last alarm of new pairs."""
        alarms = [
            one
            for one in advance.raised
            if one.kind == "alarm" and one.pair.sequence > self.known_through
        ]
        emergencies = [one for one in advance.raised if one.kind == "emergency"]
        return [*alarms[-1:], *emergencies[-1:]]


class RefoldRepository:
    """What is being folded anew, in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, task_id: str, version: int) -> Refold | None:
        """Return how far a version is folded anew; None where it is not."""
        item = self._table.get(task_id, refold_key(version))
        return Refold.model_validate(item) if item else None

    def open(self, stored: StoredEvidence, *, due_at: datetime) -> None:
        """Have a version's pairs folded anew; what is being folded goes on."""
        refold = Refold(
            organization_id=stored.organization_id,
            task_id=stored.task_id,
            task_name=stored.task_name,
            version=stored.version,
            known_through=stored.sequence,
        )
        due = DueIndex.opened_in(stored.task_id, due_at, shards=OPEN_SHARDS)
        self._table.add_together(
            [
                Addition(
                    table=self._table.name,
                    pk=stored.task_id,
                    sk=refold_key(stored.version),
                    changes={**refold.model_dump(mode="json"), **due},
                    only_if={"revision": None},
                )
            ]
        )

    def write(self, after: Refold, *, due_at: datetime) -> bool:
        """Store how far it has come; return False where others went on with it, or ended it."""
        changes = {**after.model_dump(mode="json"), "due_at": moment(due_at)}
        changed = self._table.update(
            after.task_id,
            refold_key(after.version),
            changes,
            only_if={"revision": after.revision - 1},
            having=OPEN_SHARD,
        )
        return changed is not None

    def end(self, refold: Refold) -> None:
        """Forget it: the evidence is of the present rules, or the version is gone."""
        self._table.delete(refold.task_id, refold_key(refold.version))
