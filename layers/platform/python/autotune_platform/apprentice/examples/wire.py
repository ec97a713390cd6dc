"""Examples as callers see them."""

from autotune.protocol import apprentice_examples as wire
from autotune_platform.apprentice.examples.service import Counted, Shown

_SHOWN = {"id", "definition_hash", "selection", "propensity", "run_id", "at"}


def example_on_wire(shown: Shown) -> wire.ApprenticeExample:
    """Return an example, with its texts where they are left."""
    texts = shown.texts
    return wire.ApprenticeExample(
        **shown.example.model_dump(include=_SHOWN),
        side=shown.example.side(shown.split),
        input=None if texts is None else dict(texts.input),
        output=None if texts is None else dict(texts.output),
    )


def counts_on_wire(counted: Counted) -> wire.ApprenticeExampleCounts:
    """Return how many examples a definition has."""
    sides = counted.sides
    return wire.ApprenticeExampleCounts(
        definition_hash=counted.definition_hash,
        examples=counted.counts.all,
        selections=wire.ApprenticeSelectionCounts.model_validate(counted.counts.by_selection),
        split=wire.ApprenticeSplit(
            holdout=counted.split.holdout,
            split_by=list(counted.split.split_by),
            is_fixed=counted.is_fixed,
        ),
        sides=None
        if sides is None
        else wire.ApprenticeSideCounts(
            train=sides.train, holdout=sides.holdout, neither=sides.neither
        ),
    )
