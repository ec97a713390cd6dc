"""Replays: samples judged by an edited version, and what that changes.

A replay is named in the edit before its run is stored: whoever is killed in between leaves an edit
whose run is missing, and another request starts one. A look at held-out labels is spent in the
write that names the run, so that no figure of it is seen before, and is never given back. One edit
spends one look, however often its replay is begun anew: a version judges a sample once.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from autotune.protocol.deck_edits import ReplayEditRequest
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.deciding import EditDeciding
from autotune_platform.decks.fixing.measuring import EditMeasuring
from autotune_platform.decks.fixing.models import Edit, Look
from autotune_platform.decks.fixing.repository import EditRepository
from autotune_platform.decks.fixing.writing import EditWriting
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.models import DeckGrader, GraderVersion
from autotune_platform.decks.new_graders import digest_of
from autotune_platform.decks.runs.choosing import Chosen
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.service import RunService
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.decks.service import require_current, require_room
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.labels import (
    LEAST_LABELS,
    LEAST_OUTSIDE_COMMONEST,
    MOST_APART,
    Insufficient,
)

_ATTEMPTS = 5


@part
class EditReplaying:
    """Starts replays of edits, and measures those that have ended."""

    graders: LabelledGraders
    grader_repository: DeckGraderRepository
    edits: EditRepository
    writing: EditWriting
    samples: SampleRepository
    runs: RunService
    run_repository: RunRepository
    measuring: EditMeasuring
    deciding: EditDeciding
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
        edit = self.settled(self.edits.require(deck_id, grader_id, edit_id))
        run = self._run_of(edit)
        if edit.status == "replaying" and run is not None:
            return edit
        self._require_ready(caller, grader, edit, request)
        edit, versions = self._with_candidate(grader, edit)
        now = self.clock.now()
        by = edit.look_at if request.split == "holdout" and edit.look_at is not None else now
        since = edit.labels_since if edit.look is not None else request.labels_since
        truths = self._labelled(grader, request, by=by, since=since)
        deck = self.graders.decks.require(caller, deck_id)
        headers = self.samples.headers(deck_id, [one.sample_id for one in truths])
        chosen = Chosen(
            samples=list(headers.values()), versions=self._to_judge(versions, list(headers))
        )
        if not chosen.samples:
            raise ConflictError("no sample of this half has a label that counts")
        new = self.runs.new_run(
            caller,
            deck,
            chosen,
            kind="replay",
            split=request.split,
            cap=request.cap_nano_usd,
            fingerprint=edit.id,
        )
        replayed = self._named(edit, new, request, by=by)
        try:
            self.runs.add(new, [one.id for one in chosen.samples], idempotency_key=None)
        except ConflictError:
            back = {"status": edit.status, "run_id": edit.run_id, "split": edit.split}
            self._store(replayed, {**back, "labels_by": edit.labels_by})
            raise
        return replayed

    def settled(self, edit: Edit) -> Edit:
        """Return an edit with its figure, where its replay has ended; measuring again is the same.

        Raises:
            UnavailableError: the table is busy.
        """
        run = self._run_of(edit)
        if edit.status != "replaying" or run is None or run.is_open:
            return edit
        if run.status != "completed":
            before = "proposed" if edit.trial is None else "measured"
            changes: Mapping[str, Any] = {"status": before, "unfinished": run.status}
            return self._store(edit, changes) or self._again(edit)
        assert edit.split is not None, "what is replayed has a half"
        assert edit.labels_by is not None, "and a moment by which labels count"
        truths = self.measuring.labelled(
            edit.grader_id, split=edit.split, by=edit.labels_by, since=self._since(edit)
        )
        if edit.split == "development":
            changes = {"trial": self.measuring.trial(edit, truths)}
        else:
            changes = {"effect": self.measuring.effect(edit, truths)}
        measured = self._store(edit, {**changes, "status": "measured", "unfinished": None})
        if measured is None:
            return self._again(edit)
        return self.deciding.accepted_beforehand(measured)

    def _since(self, edit: Edit) -> datetime | None:
        return edit.labels_since if edit.split == "holdout" else None

    def _run_of(self, edit: Edit) -> Run | None:
        return self.run_repository.get(edit.deck_id, edit.run_id) if edit.run_id else None

    def _again(self, edit: Edit) -> Edit:
        return self.edits.require(edit.deck_id, edit.grader_id, edit.id)

    def _require_ready(
        self, caller: Caller, grader: DeckGrader, edit: Edit, request: ReplayEditRequest
    ) -> None:
        if edit.status not in {"proposed", "replaying", "measured"}:
            raise ConflictError(f"edit {edit.id} is {edit.status.replace('_', ' ')}")
        require_current(grader.version, edit.base_version)
        if grader.status != "active":
            raise ConflictError(f"grader {grader.id} is {grader.status}; only active ones judge")
        if self.graders.decks.require(caller, grader.deck_id).status == "archived":
            raise ConflictError("the deck is archived; make it active first")
        if request.split == "holdout" and edit.trial is None:
            raise ConflictError(
                "replay the edit on the development half first: that spends no look at the labels "
                "that are held out"
            )
        if request.split == "holdout" and edit.effect is not None:
            raise ConflictError(
                f"edit {edit.id} was measured on the labels that are held out; the same edit would "
                "say the same"
            )

    def _labelled(
        self,
        grader: DeckGrader,
        request: ReplayEditRequest,
        *,
        by: datetime,
        since: datetime | None,
    ) -> list[Truth]:
        if request.split == "development":
            return self.measuring.labelled(grader.id, split="development", by=by)
        truths = self.measuring.labelled(grader.id, split="holdout", by=by, since=since)
        apart = self.measuring.apart(grader.id, by=by)
        labels = self.measuring.sufficiency(truths, apart=apart)
        if labels.because is Insufficient.MANY_APART:
            raise ConflictError(
                f"people are apart on {apart} drawn samples of the held-out half, and agree on "
                f"{len(truths)}; a claim needs them adjudicated, but for {MOST_APART:.0%}"
            )
        if not labels.is_sufficient:
            raise ConflictError(
                f"{labels.n} drawn labels of the held-out half have a level, "
                f"{labels.outside_commonest} of them another than the commonest; a claim needs "
                f"{LEAST_LABELS} and {LEAST_OUTSIDE_COMMONEST}"
            )
        return truths

    def _with_candidate(
        self, grader: DeckGrader, edit: Edit
    ) -> tuple[Edit, Sequence[GraderVersion]]:
        """Return an edit that has a version, with the one before and that one."""
        base = self.graders.version(grader, edit.base_version)
        if edit.candidate_version is not None:
            return edit, [base, self.graders.version(grader, edit.candidate_version)]
        if base.judge is None:
            raise ConflictError(f"version {base.version} has no judge")
        require_room(grader.versions, of="grader")
        rubric = self.writing.checked(grader, base.rubric, edit.patch, named=edit.sample_ids)
        candidate = GraderVersion(
            organization_id=grader.organization_id,
            deck_id=grader.deck_id,
            grader_id=grader.id,
            version=grader.versions + 1,
            digest=digest_of(rubric, base.judge),
            rubric=rubric,
            judge=base.judge,
            parent=base.version,
            note=edit.note,
            edit_id=edit.id,
            candidate=True,
            author=edit.created_by,
            created_at=self.clock.now(),
        )
        more = {"versions": candidate.version, "revision": grader.revision + 1}
        after = _changed(edit, {"candidate_version": candidate.version})
        stored = self.edits.store(
            [
                self.grader_repository.changed(grader, grader.model_copy(update=more)),
                self.grader_repository.added(candidate),
                self.edits.changed(edit, after),
            ]
        )
        if not stored:
            raise ConflictError("grader or edit changed at the same time; try again")
        return after, [base, candidate]

    def _to_judge(
        self, versions: Sequence[GraderVersion], sample_ids: Sequence[str]
    ) -> list[GraderVersion]:
        """Return the version before only where it has something to judge, and the edited one.

        A version is at work in one run at a time: so edits of the same one are replayed together.
        """
        base, candidate = versions
        found = self.measuring.results.scores(base.grader_id, base.version, sample_ids)
        is_known = all(
            id_ in found and found[id_].status in {"scored", "abstained"} for id_ in sample_ids
        )
        return [candidate] if is_known else [base, candidate]

    def _named(self, edit: Edit, run: Run, request: ReplayEditRequest, *, by: datetime) -> Edit:
        """Store which run replays an edit, with the look that it spends.

        Raises:
            ConflictError: the edit changed at the same time, or looks kept being spent.
        """
        changes: dict[str, Any] = {
            "status": "replaying",
            "run_id": run.id,
            "split": request.split,
            "labels_by": by,
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
        }
        for _ in range(_ATTEMPTS):
            looks = self.edits.looks(edit.organization_id, edit.deck_id, edit.grader_id)
            number = looks.next_number(request.labels_since)
            after = _changed(edit, {**changes, "look": number, "look_at": by})
            look = Look(at=by, edit_id=edit.id, number=number)
            writes = [
                self.edits.changed(edit, after),
                self.edits.spent(edit.deck_id, looks, looks.after(look)),
            ]
            if self.edits.store(writes):
                return after
            if self._again(edit).revision != edit.revision:
                raise _changed_meanwhile(edit)
        raise ConflictError("others look at the same labels right now; try again")

    def _store(self, edit: Edit, changes: Mapping[str, Any]) -> Edit | None:
        """Return a changed edit once it is stored; None where it changed at the same time."""
        after = _changed(edit, changes)
        return after if self.edits.store([self.edits.changed(edit, after)]) else None


def _changed(edit: Edit, changes: Mapping[str, Any]) -> Edit:
    return edit.model_copy(update={**changes, "revision": edit.revision + 1})


def _changed_meanwhile(edit: Edit) -> ConflictError:
    return ConflictError(f"edit {edit.id} changed at the same time; read it again")
