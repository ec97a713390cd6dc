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
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity


class PromptEdit(Entity):
    """A system prompt in place of another one, and how far it has come.

    Attributes:
        base_version: the version that it is to replace, and ``candidate_version`` the one that has
            its prompt; this is stored with it, and is not the current one before it is accepted.
        groups: how many groups of samples are drawn; all of them where it is None.
        split: the half that these are of; None for both.
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
    """A time that figures of an edit were shown."""

    at: datetime
    edit_id: str


class PromptLooks(FrozenModel):
    """All looks at labels of edits of a deck's prompt, the oldest first."""

    organization_id: str
    looks: Sequence[PromptLook] = ()
    revision: int = 0

    def next_number(self, since: datetime) -> int:
        """Return the number of the next look at labels from after a moment, from 1."""
        return 1 + sum(one.at > since for one in self.looks)

    def after(self, look: PromptLook) -> "PromptLooks":
        """Return these with one more."""
        changes = {"looks": [*self.looks, look], "revision": self.revision + 1}
        return self.model_copy(update=changes)
