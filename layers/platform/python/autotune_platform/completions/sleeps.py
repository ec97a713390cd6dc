"""What runs sleep for, as the batches that they serve keep it."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Self

from autotune.protocol.completions import ReasonCode
from autotune.protocol.limits import MAX_BATCH_COMPLETIONS
from autotune.protocol.runs import RunStep
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.item_format import moment
from autotune_platform.verdicts.models import completion_id_of

ASLEEP = "asleep#"
"""Start of the attributes of a batch that say until when runs sleep, one for each run."""


class Sleep(FrozenModel):
    """What a run last slept for, with completions of a batch left.

    Attributes:
        grader_id: the grader that the run asks.
        run_id: the run.
        unswept_until: the sweeper leaves what the run serves alone until then.
        awake_at: when the run goes on.
        attempts: passes of the run that are over.
        step: what it sleeps before.
        reason_code: why a completion failed that is to be tried again; None where none did.
        panel_id: for which panel the grader is asked.
        generation: of the completions that it serves.
        places: which of the batch's completions it serves, in hexadecimal: bit n is the nth of
            them; none before a batch keeps it.
    """

    grader_id: str
    run_id: str
    unswept_until: datetime
    awake_at: datetime
    attempts: int = 0
    step: RunStep | None = None
    reason_code: ReasonCode | None = None
    panel_id: str | None = None
    generation: int = 0
    places: str = "0"

    @property
    def attribute(self) -> str:
        """The name under which a batch keeps it."""
        return f"{ASLEEP}{self.grader_id}#{self.run_id}"

    def serves(self, place: int) -> bool:
        """Return whether the completion at an index of the batch is one that the run serves."""
        return bool(int(self.places, 16) >> place & 1)

    def packed(self) -> str:
        """Return it as text, which sorts by ``unswept_until``."""
        named = {"grader_id", "run_id", "unswept_until"}
        if not self.generation:
            named.add("generation")
        rest = self.model_dump_json(exclude=named, exclude_none=True)
        return f"{moment(self.unswept_until)} {rest}"

    @classmethod
    def unpacked(cls, attribute: str, text: str) -> Self | None:
        """Return what was packed; None for what no run packed."""
        grader_id, _, run_id = attribute.removeprefix(ASLEEP).partition("#")
        until, _, rest = text.partition(" ")
        try:
            return cls(
                grader_id=grader_id,
                run_id=run_id,
                unswept_until=datetime.fromisoformat(until),
                **json.loads(rest),
            )
        except ValueError:
            return None


def places_of(batch_id: str, completion_ids: Iterable[str]) -> str:
    """Return which completions of a batch these are, as ``Sleep.places`` has it.

    Their ids follow from the batch's id and their index, so that no batch is read for it.
    """
    wanted, bits = set(completion_ids), 0
    for place in range(MAX_BATCH_COMPLETIONS):
        if not wanted:
            break
        if (id_ := completion_id_of(batch_id, place)) in wanted:
            wanted.remove(id_)
            bits |= 1 << place
    return f"{bits:x}"
