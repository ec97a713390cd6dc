"""Where trainings are stored; see ``items``."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from autotune_platform.apprentice.configuration.items import model_from, unchanged
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.examples.items import (
    COUNTED,
    EXAMPLES_COUNTED,
    GROWN,
    LOOKED_BY,
    counts_key,
)
from autotune_platform.apprentice.folding.items import COST_TRAINING, DUE_RUNS_INDEX, day_key
from autotune_platform.apprentice.training.events import training_changed
from autotune_platform.apprentice.training.items import (
    LAST,
    TRAINING,
    certificate_key,
    training_key,
    trainings_of,
)
from autotune_platform.apprentice.training.models import (
    Certificate,
    HeldBack,
    LastTraining,
    Training,
)
from autotune_platform.storage.counting import Addition, Check
from autotune_platform.storage.due_index import OPEN_SHARD, DueIndex, due_of
from autotune_platform.storage.item_format import Item, moment
from autotune_platform.storage.numbered import numbered_page
from autotune_platform.storage.table import Key, Table
from autotune_platform.webhooks.outbox import outbox_addition

OPEN_TRAININGS = "trainings"
"""The partition of the index that has trainings under way: there are few, each for minutes."""
_PASSING = ("job", "model_kept_until", "is_left")
"""What a training has for a while."""


class Grown(NamedTuple):
    """A number of examples that changed since somebody looked, or whose task's configuration did.

    Attributes:
        configuration: version of the last one that was put; None where that was the first one.
    """

    organization_id: str
    task_id: str
    task_name: str
    definition_hash: str
    examples: int
    configuration: int | None

    @property
    def key(self) -> Key:
        """Where it is stored."""
        return self.task_id, counts_key(self.definition_hash)

    @property
    def as_it_was(self) -> Mapping[str, int | None]:
        """What of it is as it was read while nothing changed."""
        return {EXAMPLES_COUNTED: self.examples, LOOKED_BY: self.configuration}


class TrainingRepository:
    """Trainings in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, task_id: str, number: int) -> Training | None:
        """Return a training."""
        item = self._table.get(trainings_of(task_id), training_key(number))
        return model_from(item, Training) if item else None

    def maker_of(self, training: Training) -> Training:
        """Return the training that a training's model came of: itself, but for one taken over."""
        if training.model_of is None:
            return training
        made_by = self.get(training.task_id, training.model_of)
        assert made_by is not None, "trainings go with their task"
        return made_by

    def ended_in_vain(self, task_id: str, number: int) -> bool:
        """Return whether a training ended without a version, as did each that took its model."""
        found = self.get(task_id, number)
        while found is not None and found.model_taken_by is not None:
            found = self.get(task_id, found.model_taken_by)
        return found is not None and found.has_ended and found.version is None

    def list(
        self, task_id: str, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[Training], str | None]:
        """Return a page of a task's trainings, newest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        items, token = numbered_page(
            self._table,
            trainings_of(task_id),
            TRAINING,
            training_key,
            limit=limit,
            next_token=next_token,
        )
        return [model_from(item, Training) for item in items], token

    def all_of(self, task_id: str) -> Iterator[Training]:
        """Yield all trainings of a task, in their order."""
        for item in self._table.items(trainings_of(task_id), starting=TRAINING):
            yield model_from(item, Training)

    def last(self, task_id: str) -> LastTraining:
        """Return what is known of the last training of a task."""
        return model_from(self._table.get(trainings_of(task_id), LAST) or {}, LastTraining)

    def add(
        self,
        task: ApprenticeTask,
        training: Training,
        *,
        emergency: int,
        made_by: Training | None = None,
    ) -> bool:
        """Store a training that begins, and have that published.

        It returns False where the task changed, another began, or a model is kept no longer.

        Args:
            emergency: number of the latest version that raised an emergency; 0 where none did.
            made_by: the training whose model it takes, which is kept for it.
        """
        before = training.number - 1
        last = Addition(
            table=self._table.name,
            pk=trainings_of(task.id),
            sk=LAST,
            changes={
                "number": training.number,
                "running": training.number,
                "organization_id": task.organization_id,
                "definition_hash": training.definition_hash,
                "examples": training.examples,
                "emergency": emergency,
            },
            remove=("outcome", "held_back"),
            only_if={"number": before or None, "running": None},
        )
        stored = self._addition(training, only_if={"number": None})
        writes: list[Check | Addition] = [unchanged(self._table.name, task), last, stored]
        writes.append(self._told(training))
        if made_by is not None:
            writes.append(self._taken(made_by, training))
        return self._table.write_together(writes, token=uuid4().hex) is None

    def hold_back(self, task: ApprenticeTask, last: LastTraining, held: HeldBack) -> None:
        """Note why a training does not begin that is due; where something changed, nothing is."""
        noted = Addition(
            table=self._table.name,
            pk=trainings_of(task.id),
            sk=LAST,
            changes={
                "organization_id": task.organization_id,
                "held_back": held.model_dump(mode="json"),
            },
            only_if={"number": last.number or None, "running": None},
        )
        writes = (unchanged(self._table.name, task), noted)
        self._table.write_together(writes, token=uuid4().hex)

    def change(
        self,
        before: Training,
        after: Training,
        *also: Check | Addition,
        certificate: Certificate | None = None,
    ) -> bool:
        """Store what became of a training; return False where somebody else did meanwhile.

        One that has ended makes room for the next, and its end is published.

        Args:
            before: the training as it was read.
            after: as it is from now on.
            also: what is written in the same transaction.
            certificate: of the version that came of it, stored with its end and never again.
        """
        writes: list[Check | Addition] = [self.changed(before, after), *also]
        if after.has_ended:
            writes.append(self._told(after))
            writes.append(
                Addition(
                    table=self._table.name,
                    pk=trainings_of(after.task_id),
                    sk=LAST,
                    remove=("running",),
                    changes={"outcome": after.state},
                    only_if={"running": after.number},
                )
            )
        if certificate is not None:
            writes.append(
                Addition(
                    table=self._table.name,
                    pk=trainings_of(after.task_id),
                    sk=certificate_key(certificate.version),
                    changes={
                        "organization_id": after.organization_id,
                        **certificate.model_dump(mode="json"),
                    },
                    only_if={"version": None},
                )
            )
        return self._table.write_together(writes, token=uuid4().hex) is None

    def paid(self, training: Training, day: str, nano_usd: int) -> Addition:
        """Return what adds to the costs of a task's day, as a part of a transaction."""
        return Addition(
            table=self._table.name,
            pk=training.task_id,
            sk=day_key(day),
            numbers={COST_TRAINING: nano_usd},
            changes={"organization_id": training.organization_id},
        )

    def changed(self, before: Training, after: Training) -> Addition:
        """Return what stores a training that goes on, as a part of a transaction."""
        return self._addition(
            after,
            only_if={
                "state": before.state,
                "step": before.step,
                "redrive": before.redrive,
                "turn": before.turn,
            },
        )

    def let_go(self, training: Training) -> bool:
        """Note that the model of a training that has ended is kept no longer.

        It returns False where another has it by now, or it is kept until another time.
        """
        key = (trainings_of(training.task_id), training_key(training.number))
        names = {"id", "state", "turn", "model_kept_until"}
        kept = training.model_dump(mode="json", include=names)
        gone = (OPEN_SHARD, "model_kept_until")
        return self._table.update(*key, {}, remove=gone, only_if=kept) is not None

    def tidied(self, training: Training) -> None:
        """Note that what is left of a training is being deleted; nothing where that is known."""
        key = (trainings_of(training.task_id), training_key(training.number))
        names = {"id", "state", "turn", "model_kept_until", "is_left"}
        left = training.model_dump(mode="json", include=names)
        until = training.model_kept_until
        changes = {} if until is None else {"due_at": moment(until)}
        gone = ("is_left",) if until is not None else ("is_left", OPEN_SHARD)
        self._table.update(*key, changes, remove=gone, only_if=left)

    def certificate(self, task_id: str, version: int) -> Certificate | None:
        """Return the certificate of a version; None where no training here made it."""
        item = self._table.get(trainings_of(task_id), certificate_key(version))
        return model_from(item, Certificate) if item else None

    def due(self, before: datetime, *, limit: int) -> Iterator[Item]:
        """Yield trainings that are overdue, as stored, the longest due first; see ``read``."""
        return due_of(self._table, OPEN_TRAININGS, before, index=DUE_RUNS_INDEX, limit=limit)

    def read(self, item: Item) -> Training:
        """Return a training that is due.

        Raises:
            ValidationError: it is of another shape.
        """
        return model_from(item, Training)

    def put_off(self, item: Item, at: datetime) -> None:
        """Have one that is due looked at at a time, if nobody did meanwhile."""
        as_it_was = {name: item.get(name) for name in (OPEN_SHARD, "due_at")}
        self._table.update(item["pk"], item["sk"], {"due_at": moment(at)}, only_if=as_it_was)

    def grown(self, now: datetime, *, limit: int) -> Iterator[Grown]:
        """Yield numbers of examples that changed since somebody looked."""
        for stored in due_of(self._table, GROWN, now, index=DUE_RUNS_INDEX, limit=limit):
            if OPEN_SHARD in stored:
                yield Grown(
                    stored["organization_id"],
                    stored["pk"],
                    stored["task_name"],
                    stored["sk"].removeprefix(COUNTED),
                    stored[EXAMPLES_COUNTED],
                    stored.get(LOOKED_BY),
                )

    def looked(self, grown: Grown) -> None:
        """Have a number looked at no more until it changes; one that has changed stays."""
        self._table.update(*grown.key, {}, remove=DueIndex.ATTRIBUTES, only_if=grown.as_it_was)

    def look_again(self, grown: Grown, at: datetime) -> None:
        """Have a number looked at again at a time, or once it changes."""
        self._table.update(*grown.key, {"due_at": moment(at)}, only_if=grown.as_it_was)

    def erase(self, task_id: str) -> None:
        """Delete all trainings of a task; a repeat goes on with it.

        Raises:
            UnavailableError: the table kept some.
        """
        items = self._table.items(trainings_of(task_id), attributes=("pk", "sk"))
        self._table.delete_many((item["pk"], item["sk"]) for item in items)

    def _taken(self, made_by: Training, training: Training) -> Addition:
        """Return what has a training's model taken by another, once."""
        names = {"id", "turn", "model_kept_until", "is_left"}
        known = made_by.model_dump(mode="json", include=names)
        # What else is left of it is deleted, too.
        gone = ("model_kept_until",) if made_by.is_left else ("model_kept_until", OPEN_SHARD)
        return Addition(
            table=self._table.name,
            pk=trainings_of(made_by.task_id),
            sk=training_key(made_by.number),
            changes={"model_taken_by": training.number},
            remove=gone,
            only_if={**known, "model_taken_by": None},
        )

    def _told(self, training: Training) -> Addition:
        """Return what has it published that a training began, or that it ended."""
        event = training_changed(training)
        return outbox_addition(event, table=self._table.name, pk=training.task_id)

    def _addition(
        self, training: Training, *, only_if: Mapping[str, int | str | bool | None]
    ) -> Addition:
        attributes: dict[str, Any] = training.model_dump(mode="json", exclude_none=True)
        attributes["due_at"] = moment(training.due_at)
        gone = [name for name in _PASSING if attributes.get(name) is None]
        # Of one that has ended somebody is to delete the model, once it is kept no longer, and
        # what is left where nobody has begun to.
        is_kept = training.model_kept_until is not None
        is_open = not training.has_ended or is_kept or training.is_left is True
        if is_open:
            attributes[OPEN_SHARD] = OPEN_TRAININGS
        return Addition(
            table=self._table.name,
            pk=trainings_of(training.task_id),
            sk=training_key(training.number),
            changes=attributes,
            remove=[*gone, *(() if is_open else (OPEN_SHARD,))],
            only_if=only_if,
        )
