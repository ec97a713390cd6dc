"""What an example is, and how it came to be one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.examples.sides import Digests, Split
from autotune_platform.apprentice.phases import Phase
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.runtime.frozen_model import FrozenModel

Selection = Literal["phase1", "random", "escalated", "imported"]
"""Why the paid model was asked: there was no small one, chance drew the run, the small one failed
or was unsure; or somebody brought the example. Only the first two say how often inputs are."""

REPRESENTATIVE: tuple[Selection, ...] = ("phase1", "random")


class Example(FrozenModel):
    """An example without its texts.

    Attributes:
        id: it follows from the run, or from what was imported.
        definition_hash: of the definition whose answer it has.
        propensity: how probable it was that the input would become an example, above 0 and up to
            1; None where chance had no part.
        at: when it was answered, or imported.
        run_id: of the run that it is of.
        row_id: the ledger's row that has the answer.
        whole: digest of the input; see ``sides.Digests``.
        fields: of its fields.
    """

    id: str
    organization_id: str
    task_id: str
    definition_hash: str
    selection: Selection
    propensity: float | None = None
    at: datetime
    run_id: str | None = None
    row_id: str | None = None
    whole: bytes
    fields: bytes | None = None

    @property
    def digests(self) -> Digests:
        """What its input is known by."""
        return Digests(self.whole, self.fields)

    @property
    def is_representative(self) -> bool:
        """Whether it says how often such inputs come, so that it may validate."""
        return self.selection in REPRESENTATIVE and self.propensity is not None

    def side(self, split: Split) -> Literal["train", "holdout"] | None:
        """Return its side of a split; None where it is on neither."""
        return self.digests.side(split)


@dataclass(frozen=True)
class ExampleTexts:
    """What was asked and answered: an object of the input schema, and one of the output schema."""

    input: Mapping[str, Any]
    output: Mapping[str, Any]


def example_of(run: Run) -> Example:
    """Return the example that a run is which the paid model answered.

    While a version is in shadow beside the one that serves, all inputs are put to the paid model,
    whatever chance drew.
    """
    selection: Selection = "escalated"
    propensity = None
    if run.phase in (None, Phase.REMOTE):
        selection, propensity = "phase1", 1.0
    elif run.phase == Phase.LOCAL and run.shadow_version is not None:
        selection, propensity = "random", 1.0
    elif run.is_drawn:
        selection, propensity = "random", run.sampling_rate
    digests = Digests.of(run.input)
    return Example(
        id=derived_id("exm", run.id),
        organization_id=run.organization_id,
        task_id=run.task_id,
        definition_hash=run.definition_hash,
        selection=selection,
        propensity=propensity,
        at=run.ended_at or run.created_at,
        run_id=run.id,
        row_id=run.remote_row_id,
        whole=digests.whole,
        fields=digests.fields,
    )
