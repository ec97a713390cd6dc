"""Replays: samples judged by an edited version, and what that changes.

A replay is named in the edit before its run is stored: whoever is killed in between leaves an edit
whose run is missing, and another request starts one. A look at held-out labels is spent in the
write that names the run, so that no figure of it is seen before, and is never given back. One edit
spends one look, however often its replay is begun anew: a version judges a sample once.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from autotune.protocol import deck_edits as wire
from autotune.protocol.deck_edits import ReplayEditRequest
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.fixing.planning import PlannedReplay, ReplayPlanning
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.fixing.settling import EditSettling, changed
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.look_repository import Look, Looks
from autotune_platform.decks.models import DeckGrader
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.service import RunService
from autotune_platform.decks.shared_looks import SharedLooks
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.looks import alpha_of_look

_ATTEMPTS = 5


@part
class EditReplaying:
    """Starts replays of edits."""

    graders: LabelledGraders
    grader_repository: DeckGraderRepository
    edits: EditRepository
    shared: SharedLooks
    planning: ReplayPlanning
    runs: RunService
    run_repository: RunRepository
    settling: EditSettling
    clock: Clock = SYSTEM_CLOCK

    def start(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        edit_id: str,
        request: ReplayEditRequest,
    ) -> Edit:
        """Have labelled samples of one half judged by the edited version, and by the one before.

        What these have judged is not paid again. One that is under way is returned as it is.

        Raises:
            NotFoundError: there is no such deck, grader or edit, or it is another organisation's.
            ConflictError: the edit is decided, its base is not the current version, the grader is
                not active, labels are missing, or a version is at work in another run.
            InvalidRequestError: the judge's connection is revoked, or its model has no price.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        edit = self.settling.settled(self.edits.require(deck_id, grader_id, edit_id))
        run = self._run_of(edit)
        if edit.status == "replaying" and run is not None:
            return edit
        planned = self.planning.plan(caller, grader, edit, request)
        edit = self._with_candidate(grader, edit, planned)
        deck, chosen, by = planned.deck, planned.chosen, planned.labels_by
        new = self.runs.new_run(
            caller,
            deck,
            chosen,
            kind="replay",
            split=request.split,
            cap=request.cap_nano_usd,
            fingerprint=edit.id,
        )
        replayed = self._named(caller, edit, new, request, by=by, deck_version=deck.version)
        try:
            self.runs.add(new, [one.id for one in chosen.samples], idempotency_key=None)
        except ConflictError:
            names = ("status", "run_id", "split", "labels_by", "deck_version")
            self._store(replayed, {name: getattr(edit, name) for name in names})
            raise
        return replayed

    def estimate(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        edit_id: str,
        request: ReplayEditRequest,
    ) -> wire.EditEstimate:
        """Return what a replay would cost, and which look it would spend; nothing is stored.

        Raises:
            NotFoundError: there is no such deck, grader or edit, or it is another organisation's.
            ConflictError: the edit cannot be replayed so.
            InvalidRequestError: the judge's connection is revoked, or its model has no price.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        edit = self.settling.settled(self.edits.require(deck_id, grader_id, edit_id))
        planned = self.planning.plan(caller, grader, edit, request)
        look = None
        if request.split == "holdout":
            looks = self.shared.of(edit.organization_id, deck_id, grader_id)
            look = edit.look or _next_number(looks, edit, request, at=planned.labels_by)
        found = self.runs.estimate_of(caller, planned.deck, planned.chosen)
        return wire.EditEstimate(
            **found.model_dump(), look=look, alpha=None if look is None else alpha_of_look(look)
        )

    def _run_of(self, edit: Edit) -> Run | None:
        return self.run_repository.get(edit.deck_id, edit.run_id) if edit.run_id else None

    def _again(self, edit: Edit) -> Edit:
        return self.edits.require(edit.deck_id, edit.grader_id, edit.id)

    def _with_candidate(self, grader: DeckGrader, edit: Edit, planned: PlannedReplay) -> Edit:
        """Return an edit whose version is stored.

        Raises:
            ConflictError: grader or edit changed at the same time.
        """
        candidate = planned.candidate
        if edit.candidate_version is not None:
            return edit
        more = {"versions": candidate.version, "revision": grader.revision + 1}
        after = changed(edit, {"candidate_version": candidate.version})
        stored = self.edits.store(
            [
                self.grader_repository.changed(grader, grader.model_copy(update=more)),
                self.grader_repository.added(candidate),
                self.edits.changed(edit, after),
            ]
        )
        if not stored:
            raise ConflictError("grader or edit changed at the same time; try again")
        self.planning.writing.erase_gone(after)
        return after

    def _named(
        self,
        caller: Caller,
        edit: Edit,
        run: Run,
        request: ReplayEditRequest,
        *,
        by: datetime,
        deck_version: int,
    ) -> Edit:
        """Store which run replays an edit, with the look that it spends.

        Raises:
            ConflictError: the edit changed at the same time, or looks kept being spent.
        """
        changes: dict[str, Any] = {
            "status": "replaying",
            "run_id": run.id,
            "split": request.split,
            "labels_by": by,
            "deck_version": deck_version,
            "unfinished": None,
        }
        if request.split == "development" or edit.look is not None:
            stored = self._store(edit, changes)
            if stored is None:
                raise _changed_meanwhile(edit)
            return stored
        changes |= {
            "labels_since": request.labels_since,
            "accept_if_better": request.accept_if_better,
            "accept_by": caller.principal_id if request.accept_if_better else None,
        }
        for _ in range(_ATTEMPTS):
            looks = self.shared.of(edit.organization_id, edit.deck_id, edit.grader_id)
            with_base = _with_base(looks, edit.base_version, by)
            number = _next_number(looks, edit, request, at=by)
            after = changed(edit, {**changes, "look": number, "look_at": by})
            assert edit.candidate_version is not None, "what is replayed has a version"
            look = Look(at=by, version=edit.candidate_version, number=number, edit_id=edit.id)
            writes = [
                self.edits.changed(edit, after),
                self.edits.spent(edit.deck_id, looks, with_base.after(look)),
            ]
            if self.edits.store(writes):
                return after
            if self._again(edit).revision != edit.revision:
                raise _changed_meanwhile(edit)
        raise ConflictError("others look at the same labels right now; try again")

    def _store(self, edit: Edit, changes: Mapping[str, Any]) -> Edit | None:
        """Return a changed edit once it is stored; None where it changed at the same time."""
        after = changed(edit, changes)
        return after if self.edits.store([self.edits.changed(edit, after)]) else None


def _next_number(looks: Looks, edit: Edit, request: ReplayEditRequest, *, at: datetime) -> int:
    """Return the number of the look that a replay spends."""
    with_base = _with_base(looks, edit.base_version, at)
    return with_base.next_number(request.labels_since, base=edit.base_version)


def _with_base(looks: Looks, base: int, at: datetime) -> Looks:
    """Return looks with one of the version before, whose figure is shown as well."""
    if looks.of(base) is not None:
        return looks
    number, others = looks.next_number(), len(looks.others)
    look = Look(at=at, version=base, number=number, others=others, is_read=True)
    return looks.after(look).model_copy(update={"revision": looks.revision})


def _changed_meanwhile(edit: Edit) -> ConflictError:
    return ConflictError(f"edit {edit.id} changed at the same time; read it again")
