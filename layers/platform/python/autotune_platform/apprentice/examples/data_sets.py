"""Freezing a data set: what trains a version and what validates it, from then on unchanged.

A row's side follows from its input and the definition's split. The first data set of a definition
fixes the split: what trained a version never validates a later one.
"""

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from autotune.protocol.limits import MAX_DATA_SET_EXAMPLES
from autotune_platform.apprentice.configuration.items import unchanged
from autotune_platform.apprentice.configuration.models import ApprenticeTask, Configuration
from autotune_platform.apprentice.examples.files import DataFiles, RowFile
from autotune_platform.apprentice.examples.manifests import (
    Fewest,
    Manifest,
    Row,
    TamperedDataSetError,
    TooFewExamplesError,
)
from autotune_platform.apprentice.examples.models import (
    Example,
    ExampleTexts,
    Selection,
)
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.examples.sides import Digests, Side, Split
from autotune_platform.apprentice.examples.splits import SplitRepository
from autotune_platform.apprentice.examples.texts import ExampleContents
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition, Check

_ATTEMPTS = 2
_READ_AT_ONCE = 100


class Configured(Protocol):
    """A task with its present configuration, such as ``ConfiguredTask``."""

    @property
    def task(self) -> ApprenticeTask:
        """The task."""

    @property
    def configuration(self) -> Configuration:
        """Its present configuration."""


@dataclass(frozen=True)
class _Chosen:
    """Examples by side, in the order of their ids; ``left_out`` are on neither."""

    train: Sequence[Example]
    holdout: Sequence[Example]
    left_out: int

    @property
    def sizes(self) -> Fewest:
        """How many there are."""
        return Fewest(train=len(self.train), holdout=len(self.holdout))


@part
class DataSets:
    """Freezes examples into data sets, and reads what was frozen."""

    examples: ExampleRepository
    splits: SplitRepository
    contents: ExampleContents
    files: DataFiles
    clock: Clock = SYSTEM_CLOCK

    def freeze(
        self,
        configured: Configured,
        training_id: str,
        *,
        fewest: Fewest,
        worth: Callable[[Collection[float]], int] = len,
    ) -> Manifest:
        """Freeze the examples of a task's present definition; the same training has the same.

        Args:
            training_id: what the data set is for.
            fewest: how many rows each side has to have.
            worth: returns how many groups of one weight say as much as groups do of which chance
                drew an example this probably.

        Raises:
            TooFewExamplesError: one has fewer; nothing is stored, and no split is fixed.
            TamperedDataSetError: an example is not what its text says.
            UnavailableError: a store is busy, or the task is being changed.
        """
        task = configured.task
        for _ in BUSY.attempts(_ATTEMPTS):
            found = self.find(task.id, training_id)
            if found is not None:
                return found
            fixed = self.splits.find(task.id, task.definition_hash)
            split = fixed or Split.of(configured.configuration.document)
            manifest = self._written(configured, training_id, split, fewest, worth)
            writes: list[Addition | Check] = [
                unchanged(self.splits.table, task),
                self.splits.keeping(task, manifest),
            ]
            if fixed is None:
                writes.append(self.splits.fixing(task, task.definition_hash, split))
            if self.splits.write(writes, token=uuid4().hex):
                return manifest
        raise UnavailableError("the task is being changed", retry_after_seconds=5)

    def find(self, task_id: str, training_id: str) -> Manifest | None:
        """Return the data set of a training; None where there is none."""
        return self.splits.manifest(task_id, training_id)

    def rows(self, manifest: Manifest, side: Side) -> Iterator[Row]:
        """Yield the rows of one side, in the order of their ids.

        Raises:
            TamperedDataSetError: the object's bytes are not those of the manifest, or it is gone.
        """
        return self.files.rows(manifest.side(side))

    def _written(
        self,
        configured: Configured,
        training_id: str,
        split: Split,
        fewest: Fewest,
        worth: Callable[[Collection[float]], int],
    ) -> Manifest:
        task = configured.task
        chosen = self._chosen(task.id, task.definition_hash, split)
        _require(chosen.sizes, fewest)
        with RowFile("train") as train, RowFile("holdout") as held_out:
            selections, drawn, examples_sha256 = self._write(chosen, train, held_out, split)
            _require(Fewest(train=train.rows, holdout=worth(drawn)), fewest)
            erased = len(chosen.train) + len(chosen.holdout) - train.rows - held_out.rows
            return Manifest(
                training_id=training_id,
                task_id=task.id,
                organization_id=task.organization_id,
                definition_hash=task.definition_hash,
                configuration_version=task.version,
                holdout=split.holdout,
                split_by=split.split_by,
                held_out=self.files.put(task.id, training_id, held_out),
                train=self.files.put(task.id, training_id, train),
                examples_sha256=examples_sha256,
                selections=selections,
                left_out=chosen.left_out + erased,
                frozen_at=self.clock.now(),
            )

    def _write(
        self, chosen: _Chosen, train: RowFile, held_out: RowFile, split: Split
    ) -> tuple[dict[Selection, int], list[float], str]:
        """Write both sides; return rows that train, groups that do not, and the digest of all ids.

        Rows are counted by their selection. Of a group it is how probable its likeliest row was.
        """
        selections, ids = Counter[Selection](), hashlib.sha256()
        validating: dict[str, float] = {}
        for row in self._rows(chosen.holdout, "holdout", split):
            if held_out.add(row):
                assert row.propensity is not None, "only what chance drew validates"
                validating[row.group] = max(validating.get(row.group, 0.0), row.propensity)
                ids.update(f"{row.id}\n".encode())
        for row in self._rows(chosen.train, "train", split):
            if row.group in validating:
                raise TamperedDataSetError(f"{row.id} is of a group that validates")
            if train.add(row):
                selections[row.selection] += 1
                ids.update(f"{row.id}\n".encode())
        return dict(selections), list(validating.values()), ids.hexdigest()

    def _chosen(self, task_id: str, definition_hash: str, split: Split) -> _Chosen:
        """Return the latest examples of each side."""
        seen = 0

        def usable() -> Iterator[tuple[Side, Example]]:
            nonlocal seen
            for one in self.examples.all_of(task_id, definition_hash):
                seen += 1
                side = one.side(split)
                if side == "train" or (side == "holdout" and one.is_representative):
                    yield side, one

        latest = heapq.nlargest(
            MAX_DATA_SET_EXAMPLES, usable(), key=lambda found: (found[1].at, found[1].id)
        )
        latest.sort(key=lambda found: found[1].id)
        train = [one for side, one in latest if side == "train"]
        holdout = [one for side, one in latest if side == "holdout"]
        return _Chosen(train, holdout, seen - len(latest))

    def _rows(self, chosen: Sequence[Example], side: Side, split: Split) -> Iterator[Row]:
        """Yield rows with their texts, but those whose texts were erased.

        Raises:
            TamperedDataSetError: a text is not the one that the example was stored with.
        """
        for some in groups(chosen, _READ_AT_ONCE):
            texts = self.contents.of(some)
            for one in some:
                if (own := texts.get(one.id)) is not None:
                    yield _row(one, own, side, split)


def _row(example: Example, texts: ExampleTexts, side: Side, split: Split) -> Row:
    digests = Digests.of(texts.input)
    group = digests.group(split.split_by)
    if digests != example.digests or digests.side(split) != side or group is None:
        raise TamperedDataSetError(f"{example.id} is not what was stored of it")
    return Row(
        id=example.id,
        input=texts.input,
        output=texts.output,
        selection=example.selection,
        propensity=example.propensity,
        group=group.hex(),
    )


def _require(found: Fewest, fewest: Fewest) -> None:
    if found.train < fewest.train or found.holdout < fewest.holdout:
        raise TooFewExamplesError(found, fewest)
