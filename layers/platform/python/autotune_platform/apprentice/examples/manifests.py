"""What a data set is: which examples train a version and which validate it, for good."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from autotune_platform.apprentice.examples.models import Selection
from autotune_platform.apprentice.examples.sides import Side
from autotune_platform.runtime.frozen_model import FrozenModel


@dataclass(frozen=True)
class Fewest:
    """How much each side has to have.

    Attributes:
        train: rows.
        holdout: groups of rows, since those of one group say the same thing again.
    """

    train: int = 1
    holdout: int = 1


class Frozen(FrozenModel):
    """One side's rows: an object of gzipped JSON lines, in the order of their ids.

    Attributes:
        key: its name in the bucket.
        sha256: of the object's bytes, in hexadecimal digits.
        bytes: of the object.
        rows: how many there are.
    """

    key: str
    sha256: str
    bytes: int
    rows: int


class Manifest(FrozenModel):
    """A data set, which never changes; it has no texts.

    Attributes:
        holdout: share of groups that validates.
        split_by: fields of the input that make a group.
        train: rows to learn from, whatever their selection.
        held_out: rows to be judged by: ``phase1`` and ``random`` alone, each with its propensity.
        examples_sha256: of the ids of ``held_out`` and then of ``train``, each with a line feed.
        selections: rows of ``train`` by selection.
        left_out: examples in neither: of another selection on the side of the hold-out, without
            texts, of no group, or older than the latest 100,000.
    """

    training_id: str
    task_id: str
    organization_id: str
    definition_hash: str
    configuration_version: int
    holdout: float
    split_by: tuple[str, ...]
    train: Frozen
    held_out: Frozen
    examples_sha256: str
    selections: Mapping[Selection, int]
    left_out: int
    frozen_at: datetime

    def side(self, side: Side) -> Frozen:
        """Return one side's rows."""
        return self.train if side == "train" else self.held_out


@dataclass(frozen=True)
class Row:
    """A row of a data set.

    Attributes:
        propensity: how probable it was that such an input became an example; its inverse is the
            row's weight. None where chance had no part.
        group: of inputs that are on one side together, in hexadecimal digits.
    """

    id: str
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    selection: Selection
    propensity: float | None
    group: str


class TooFewExamplesError(Exception):
    """A side has fewer rows than it has to have; nothing is stored.

    Attributes:
        found: how many there are.
        fewest: how many there have to be.
    """

    def __init__(self, found: Fewest, fewest: Fewest) -> None:
        super().__init__(
            f"{found.train} examples train and {found.holdout} validate; "
            f"{fewest.train} and {fewest.holdout} have to"
        )
        self.found = found
        self.fewest = fewest


class TamperedDataSetError(Exception):
    """The bytes of a data set are not those that were frozen, or its examples are not as stored."""
