"""Edits of system prompts as the platform stores them."""

from collections.abc import Iterable, Sequence, Set
from datetime import datetime

from autotune.protocol.deck_prompt_edits import (
    PromptEditStatus,
    PromptEffect,
    PromptGenerator,
)
from autotune.protocol.deck_runs import DeckRunStatus
from autotune.protocol.deck_samples import Split
from autotune.protocol.ids import timed_id
from autotune.protocol.limits import LEAST_PROMPT_EDIT_LABELS as LEAST_LABELS
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity

DECIDED: Set[PromptEditStatus] = frozenset({"accepted", "rejected", "rolled_back"})
"""What people decided on; responses that were generated for it are in no figure any more."""


class PromptEdit(Entity):
    """A system prompt in place of another one, and how far it has come.

    Attributes:
        base_version: the version that it is to replace, and ``candidate_version`` the one that has
            its prompt; this is stored with it, and is not the current one before it is accepted.
        groups: how many groups of samples are drawn; all of them where it is None.
        split: the half that these are of; None for both.
        labels: at how many labels of each version it is measured first.
        sources: the samples whose inputs are answered, drawn when the first run begins.
        unusable: how many were drawn beside them whose inputs cannot be answered.
        made: which responses were made, as ``2 * place + arm`` by the place of the source: one that
            is gone is not made again, or else people could have it made until they like it.
        started_at: when the first run began; only labels from after that count.
        run_id: the latest run; it is named before the run is stored.
        unfinished: how that run ended, where it was no end.
        look: number of the latest look that was spent, and ``effects`` what it showed.
        revision: how often it changed; a write names the one that it has read.
    """

    deck_id: str
    status: PromptEditStatus = "proposed"
    base_version: int
    candidate_version: int
    generator: PromptGenerator
    groups: int | None = None
    split: Split | None = None
    labels: int = LEAST_LABELS
    note: str = ""
    sources: Sequence[str] = ()
    unusable: int = 0
    made: Sequence[int] = ()
    started_at: datetime | None = None
    run_id: str | None = None
    unfinished: DeckRunStatus | None = None
    look: int | None = None
    effects: Sequence[PromptEffect] = ()
    measured_at: datetime | None = None
    consented: bool = False
    reason: str = ""
    revision: int = 1
    created_at: datetime
    created_by: str
    decided_at: datetime | None = None
    decided_by: str | None = None

    @property
    def arms(self) -> tuple[int, int]:
        """The versions of the deck that are compared."""
        return self.base_version, self.candidate_version

    def response_id(self, source_id: str, version: int) -> str:
        """Return the id of the sample that has the response to a source's input by a version.

        It follows from the edit, so that a step or a run that comes again finds what is there.
        """
        return timed_id("smp", self.created_at, 0, f"{self.id} {version} {source_id}")

    def has_made(self) -> Set[tuple[str, int]]:
        """Return source and version of the responses that were made, whether they are there."""
        return {(self.sources[one // 2], self.arms[one % 2]) for one in self.made}

    def with_made(self, responses: Iterable[tuple[str, int]]) -> "PromptEdit":
        """Return this with responses that were made, each by source and version."""
        places = {id_: place for place, id_ in enumerate(self.sources)}
        new = {
            2 * places[id_] + self.arms.index(version)
            for id_, version in responses
            if id_ in places
        }
        return self.model_copy(update={"made": sorted(new.union(self.made))})


class PromptLook(FrozenModel):
    """A look at the labels of an edit's responses: it is never given back.

    Attributes:
        number: among all looks of the deck's edits, from 1.
        stage: at how many labels figures were shown (``stage_of``); 0 of the one that is spent when
            responses are made, until figures are.
    """

    at: datetime
    edit_id: str
    number: int
    stage: int = 0


class PromptLooks(FrozenModel):
    """All looks at labels of edits of a deck's prompt, the oldest first.

    Labels can be read while they come, so that whoever chooses when to measure, or which of many
    edits, would find one that looks better by chance. So each edit spends a look when its responses
    are made, and figures are shown at planned numbers of labels alone: each of these is a look,
    also one that was passed over.
    """

    organization_id: str
    looks: Sequence[PromptLook] = ()
    revision: int = 0

    @property
    def latest(self) -> int:
        """The highest number so far; 0 without any."""
        return max((one.number for one in self.looks), default=0)

    def begun(self, edit_id: str, at: datetime) -> "PromptLooks":
        """Return these with the look that an edit spends when its responses are made, once."""
        if any(one.edit_id == edit_id for one in self.looks):
            return self
        return self._with([*self.looks, PromptLook(at=at, edit_id=edit_id, number=self.latest + 1)])

    def measured(self, edit_id: str, at: datetime, *, stage: int) -> tuple[int, "PromptLooks"]:
        """Return the number of the look at which figures are shown now, and all looks after it.

        Args:
            stage: at how many labels, from 1 (``stage_of``).
        """
        own = [one for one in self.looks if one.edit_id == edit_id]
        unshown = next((one for one in own if one.stage == 0), None)
        # Once figures are shown, or the first planned number is passed over, it is used up.
        looks = [
            one.model_copy(update={"stage": 1}) if one is unshown else one for one in self.looks
        ]
        if unshown is not None and stage == 1:
            return unshown.number, self._with(looks)
        # Whoever could read labels at a stage, and passed it over, has looked there.
        passed = max((one.stage for one in own), default=0) if unshown is None else 1
        number = self.latest + max(1, stage - passed)
        look = PromptLook(at=at, edit_id=edit_id, number=number, stage=stage)
        return number, self._with([*looks, look])

    def _with(self, looks: Sequence[PromptLook]) -> "PromptLooks":
        return self.model_copy(update={"looks": looks, "revision": self.revision + 1})


def stage_of(labelled: int, *, planned: int, of_all: int) -> tuple[int, int]:
    """Return the latest stage that so many labels of each version reach, and its labels.

    The first is at the planned number, and each further one at twice as many, up to all responses.

    Returns:
        (0, 0) where even the first is not reached.
    """
    stage, wanted = 0, min(planned, of_all)
    if not wanted or labelled < wanted:
        return 0, 0
    while labelled >= wanted:
        stage, reached = stage + 1, wanted
        if wanted == of_all:
            break
        wanted = min(2 * wanted, of_all)
    return stage, reached
