"""What a replay of an edit judges: found before anything of it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from autotune.protocol.deck_edits import ReplayEditRequest
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.measuring import EditMeasuring
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.decks.fixing.writing import EditWriting
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.results import JudgeWord
from autotune_platform.decks.models import Deck, DeckGrader, GraderVersion, Sample
from autotune_platform.decks.new_graders import digest_of
from autotune_platform.decks.runs.choosing import Chosen
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.decks.service import require_current, require_room
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.labels import (
    LEAST_LABELS,
    LEAST_OUTSIDE_COMMONEST,
    MOST_OPEN,
    Insufficient,
)


@dataclass(frozen=True)
class PlannedReplay:
    """A replay of which nothing is stored.

    Attributes:
        candidate: the edited version, which the first replay stores.
        labels_by: the moment by which labels count.
    """

    deck: Deck
    candidate: GraderVersion
    chosen: Chosen
    labels_by: datetime


@part
class ReplayPlanning:
    """Finds which samples a replay judges, and by which versions."""

    graders: LabelledGraders
    writing: EditWriting
    samples: SampleRepository
    measuring: EditMeasuring
    clock: Clock = SYSTEM_CLOCK

    def plan(
        self, caller: Caller, grader: DeckGrader, edit: Edit, request: ReplayEditRequest
    ) -> PlannedReplay:
        """Return what a replay would judge.

        Raises:
            ConflictError: the edit is decided, its base is not the current version, the grader is
                not active, or labels are missing.
            InvalidRequestError: the patch copies a sample that was labelled since.
        """
        deck = self._require_ready(caller, grader, edit, request)
        now = self.clock.now()
        by = edit.look_at if request.split == "holdout" and edit.look_at is not None else now
        since = edit.labels_since if edit.look is not None else request.labels_since
        truths = self._labelled(edit, request, deck_version=deck.version, by=by, since=since)
        headers = self.samples.headers(grader.deck_id, [one.sample_id for one in truths])
        if not headers:
            raise ConflictError(
                "no sample of this half, with the deck's system prompt, has a label that counts"
            )
        base = self.graders.version(grader, edit.base_version)
        candidate = self._candidate(grader, edit, base)
        chosen = self._to_judge([base, candidate], list(headers.values()))
        return PlannedReplay(deck=deck, candidate=candidate, chosen=chosen, labels_by=by)

    def _candidate(self, grader: DeckGrader, edit: Edit, base: GraderVersion) -> GraderVersion:
        if edit.candidate_version is not None:
            return self.graders.version(grader, edit.candidate_version)
        if base.judge is None:
            raise ConflictError(f"version {base.version} has no judge")
        require_room(grader.versions, of="grader")
        rubric = self.writing.checked(grader, base.rubric, edit.patch, named=edit.sample_ids)
        return GraderVersion(
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

    def _require_ready(
        self, caller: Caller, grader: DeckGrader, edit: Edit, request: ReplayEditRequest
    ) -> Deck:
        if edit.status not in {"proposed", "replaying", "measured"}:
            raise ConflictError(f"edit {edit.id} is {edit.status.replace('_', ' ')}")
        require_current(grader.version, edit.base_version)
        if grader.status != "active":
            raise ConflictError(f"grader {grader.id} is {grader.status}; only active ones judge")
        deck = self.graders.decks.require(caller, grader.deck_id)
        if deck.status == "archived":
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
        return deck

    def _labelled(
        self,
        edit: Edit,
        request: ReplayEditRequest,
        *,
        deck_version: int,
        by: datetime,
        since: datetime | None,
    ) -> list[Truth]:
        if request.split == "development":
            return self.measuring.labelled(
                edit, deck_version=deck_version, split="development", by=by
            )
        truths = self.measuring.labelled(
            edit, deck_version=deck_version, split="holdout", by=by, since=since
        )
        open_ = self.measuring.without_truth(edit, deck_version=deck_version, by=by)
        labels = self.measuring.sufficiency(truths, without_truth=open_)
        if labels.because is Insufficient.MANY_OPEN:
            raise ConflictError(
                f"{open_} drawn samples of the held-out half have no truth, because people are "
                "apart on them, left them or had seen the result, and "
                f"{len(truths)} have; a claim needs all but {MOST_OPEN:.0%} adjudicated, or rated "
                "by somebody who had not"
            )
        if not labels.is_sufficient:
            raise ConflictError(
                f"{labels.n} drawn labels of the held-out half, of samples with the deck's system "
                "prompt, have a level, "
                f"{labels.outside_commonest} of them another than the commonest; a claim needs "
                f"{LEAST_LABELS} and {LEAST_OUTSIDE_COMMONEST}"
            )
        return truths

    def _to_judge(self, versions: Sequence[GraderVersion], samples: Sequence[Sample]) -> Chosen:
        """Return the version before only where it has something to judge, and the edited one.

        A version is at work in one run at a time: so edits of the same one are replayed together.
        What another model judged than the one that judges the edit now is judged again: the gain of
        a new model is none of the edit's. The trial, which comes first, shows which one it is.
        """
        base, candidate = versions
        model = self.measuring.results.latest_model(candidate.grader_id, candidate.version)
        again_by: dict[int, str] = {}
        known: dict[int, bool] = {}
        for one in versions:
            found = self.measuring.results.by_model(
                one.grader_id, one.version, [sample.id for sample in samples]
            )
            answers = [found.get(sample.id, {}) for sample in samples]
            if model is not None and any(_is_by_another(words, model) for words in answers):
                again_by[one.version] = model
            known[one.version] = one.version not in again_by and all(map(_has_final, answers))
        judging = [candidate] if known[base.version] else [base, candidate]
        return Chosen(samples=samples, versions=judging, again_by=again_by)


def _is_by_another(words: Mapping[str | None, JudgeWord], model: str) -> bool:
    its = {name: word for name, word in words.items() if name in (model, None)}
    return _has_final(words) and not _has_final(its)


def _has_final(words: Mapping[str | None, JudgeWord]) -> bool:
    return any(one.status in {"scored", "abstained"} for one in words.values())
