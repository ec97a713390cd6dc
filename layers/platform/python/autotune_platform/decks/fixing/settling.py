"""Edits whose replay has ended: measured by the run's execution, or by whoever reads them first.

The figure follows from what is stored, so that two that measure make the same one, and a
conditional write keeps the first.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from autotune_platform.decks.fixing.deciding import EditDeciding
from autotune_platform.decks.fixing.events import edit_measured
from autotune_platform.decks.fixing.measuring import EditMeasuring
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.transactions import Write
from autotune_platform.webhooks.outbox import outbox_put


@part
class EditSettling:
    """Measures edits whose replay has ended."""

    edits: EditRepository
    run_repository: RunRepository
    measuring: EditMeasuring
    deciding: EditDeciding

    def after_run(self, deck_id: str, run_id: str) -> None:
        """Measure the edit that a run replayed, if that is its latest replay; again is the same.

        Raises:
            UnavailableError: the table is busy.
        """
        run = self.run_repository.get(deck_id, run_id)
        if run is None or run.edit_id is None:
            return
        try:
            edit = self.edits.require(deck_id, run.graders[0].grader_id, run.edit_id)
        except NotFoundError:  # the deck was deleted
            return
        if edit.run_id == run_id:
            self.settled(edit)

    def settled(self, edit: Edit) -> Edit:
        """Return an edit with its figure, where its replay has ended; measuring again is the same.

        Raises:
            UnavailableError: the table is busy.
        """
        if edit.status == "measured":
            # Whoever measured it may have been killed before they accepted it.
            return self.deciding.accepted_beforehand(edit)
        run = self.run_repository.get(edit.deck_id, edit.run_id) if edit.run_id else None
        if edit.status != "replaying" or run is None or run.is_open:
            return edit
        if run.status != "completed":
            before = "proposed" if edit.trial is None else "measured"
            changes: Mapping[str, Any] = {"status": before, "unfinished": run.status}
            return self._store(edit, changes) or self._again(edit)
        assert edit.split is not None, "what is replayed has a half"
        assert edit.labels_by is not None, "and a moment by which labels count"
        assert edit.deck_version is not None, "and a system prompt"
        truths = self.measuring.labelled(
            edit,
            deck_version=edit.deck_version,
            split=edit.split,
            by=edit.labels_by,
            since=_since(edit),
        )
        if edit.split == "development":
            changes = {"trial": self.measuring.trial(edit, truths)}
        else:
            changes = {"effect": self.measuring.effect(edit, truths)}
        changes = {**changes, "status": "measured", "unfinished": None}
        measured = self._store(edit, changes, is_measured=True)
        if measured is None:
            return self._again(edit)
        return self.deciding.accepted_beforehand(measured)

    def _store(
        self, edit: Edit, changes: Mapping[str, Any], *, is_measured: bool = False
    ) -> Edit | None:
        after = changed(edit, changes)
        writes: list[Write] = [self.edits.changed(edit, after)]
        if is_measured:
            writes.append(outbox_put(edit_measured(after), pk=after.deck_id))
        return after if self.edits.store(writes) else None

    def _again(self, edit: Edit) -> Edit:
        return self.edits.require(edit.deck_id, edit.grader_id, edit.id)


def changed(edit: Edit, changes: Mapping[str, Any]) -> Edit:
    """Return an edit with changes, as it is stored next."""
    return edit.model_copy(update={**changes, "revision": edit.revision + 1})


def _since(edit: Edit) -> datetime | None:
    return edit.labels_since if edit.split == "holdout" else None
