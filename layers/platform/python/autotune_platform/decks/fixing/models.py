"""Edits of rubrics as the platform stores them."""

from collections.abc import Sequence
from datetime import datetime

from autotune.protocol.deck_edits import EditChange, EditOrigin, EditPattern, EditStatus
from autotune.protocol.deck_effects import EditEffect, EditTrial
from autotune.protocol.deck_runs import DeckRunStatus
from autotune.protocol.deck_samples import Split
from autotune_platform.storage.registry import Entity


class Edit(Entity):
    """A patch of a version of a grader, and how far it has come.

    Attributes:
        base_version: the version that it changes.
        candidate_version: the version that it makes, which the first replay stores.
        proposal_cost_nano_usd: what it cost that a model proposed it.
        run_id: the latest replay; it is named before the run is stored, so that whoever is killed
            in between is followed by another.
        split: the half of that replay, ``labels_by`` the moment by which its labels were given, and
            ``deck_version`` the version of the deck whose system prompt its samples have.
        unfinished: how that replay ended, where it was no end.
        look: number of the look that was spent, and ``look_at`` its moment.
        labels_since: only labels from after that moment are looked at.
        accept_if_better: whether a person consented to what is acceptable before it is measured,
            and ``accept_by`` that person.
        erased: samples that were deleted: of examples that were these, no text is left.
        revision: how often it changed; a write names the one that it has read.
    """

    deck_id: str
    grader_id: str
    status: EditStatus = "proposed"
    origin: EditOrigin
    base_version: int
    candidate_version: int | None = None
    patch: Sequence[EditChange]
    pattern: EditPattern | None = None
    sample_ids: Sequence[str] = ()
    note: str = ""
    proposal_cost_nano_usd: int = 0
    run_id: str | None = None
    split: Split | None = None
    labels_by: datetime | None = None
    deck_version: int | None = None
    unfinished: DeckRunStatus | None = None
    look: int | None = None
    look_at: datetime | None = None
    labels_since: datetime | None = None
    accept_if_better: bool = False
    accept_by: str | None = None
    trial: EditTrial | None = None
    effect: EditEffect | None = None
    consented: bool = False
    reason: str = ""
    erased: Sequence[str] = ()
    revision: int = 1
    created_at: datetime
    created_by: str
    decided_at: datetime | None = None
    decided_by: str | None = None
