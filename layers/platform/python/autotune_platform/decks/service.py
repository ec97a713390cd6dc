"""Making, reading and changing decks and their versions."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from autotune.protocol.decks import (
    CreateDeckRequest,
    CreateDeckVersionRequest,
    UpdateDeckRequest,
)
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_DECK_PLACEHOLDERS, MAX_DECK_VERSIONS
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.decks.figures import FiguresRepository
from autotune_platform.decks.models import (
    Deck,
    DeckCounts,
    DeckFigures,
    DeckVersion,
    DeletedDeck,
    WholeDeck,
)
from autotune_platform.decks.prompts import prompt_hash
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.judging.rubric.system_prompts import placeholders
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooManyEntitiesError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.transactions import Write

if TYPE_CHECKING:
    from autotune_platform.decks.prompting.repository import PromptEditRepository

_ATTEMPTS = 8


@part
class DeckService:
    """Keeps an organisation's decks.

    Args:
        made_prompt_edits: returns what reads edits of system prompts, which few requests need.
    """

    repository: DeckRepository
    figures: FiguresRepository
    made_prompt_edits: "Callable[[], PromptEditRepository]"
    clock: Clock = SYSTEM_CLOCK

    def create(
        self, caller: Caller, request: CreateDeckRequest, *, deck_id: str | None = None
    ) -> WholeDeck:
        """Make a deck with its first version.

        Args:
            deck_id: its id, where the same request is to make the same deck; a new one without it.

        Raises:
            InvalidRequestError: the prompt has too many placeholders.
            TooManyEntitiesError: the organisation has as many decks as it may, or as many versions
                with placeholders.
            NotFoundError: a deck with this id was made and deleted before.
        """
        now = self.clock.now()
        deck = Deck(
            id=deck_id or new_id("dck"),
            organization_id=caller.organization_id,
            name=request.name,
            description=request.description,
            holdout_share=request.holdout_share,
            created_at=now,
            updated_at=now,
            created_by=caller.principal_id,
        )
        first = self._version(caller, deck, 1, request.system_prompt, note="", parent=None)
        if not self.repository.add(deck, first):
            return self.get(caller, deck.id)  # it was made before
        return WholeDeck(deck=deck, counts=DeckCounts(), prompt=first.system_prompt)

    def require(self, caller: Caller, deck_id: str) -> Deck:
        """Return a deck of the caller's organisation, without what is kept beside it.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.get_of(caller.organization_id, deck_id)

    def get(self, caller: Caller, deck_id: str) -> WholeDeck:
        """Return a deck of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self._whole(self.require(caller, deck_id))

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[WholeDeck], str | None]:
        """Return a page of the organisation's decks, oldest first, without their prompts."""
        decks, token = self.repository.list(
            caller.organization_id, limit=limit, next_token=next_token
        )
        counts = self.repository.counts(deck.id for deck in decks)
        figures = self.figures.of(deck.id for deck in decks)
        # Of one that was just deleted the index may know for a moment more.
        whole = [
            WholeDeck(
                deck=deck,
                counts=counts[deck.id],
                figures=figures.get(deck.id, DeckFigures()),
            )
            for deck in decks
            if deck.id in counts
        ]
        return whole, token

    def update(self, caller: Caller, deck_id: str, request: UpdateDeckRequest) -> WholeDeck:
        """Change a deck.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            InvalidRequestError: it has no such version.
            ConflictError: the version is of an edit that is not decided, or the deck changed at the
                same time.
        """
        before = self.require(caller, deck_id)
        if request.version is not None and request.version > before.versions:
            raise InvalidRequestError.of_field("version", f"at most {before.versions}, the latest")
        if request.version is not None:
            self._require_decided(deck_id, request.version)
        changes = {name: value for name, value in request if value is not None}
        after = self._changed(before, changes)
        self._store(before, after)
        return self._whole(after)

    def _require_decided(self, deck_id: str, version: int) -> None:
        """Require that a version is not one that an edit is trying.

        Raises:
            ConflictError: it is: an edit says what it changes, and accepting it points here.
        """
        found = self.repository.version(deck_id, version)
        edit_id = None if found is None else found.prompt_edit_id
        if edit_id is not None and self.made_prompt_edits().undecided(deck_id, [edit_id]):
            raise ConflictError(
                f"version {version} is of prompt edit {edit_id}, which is not decided; accept the "
                "edit to make it the current one"
            )

    def take_up(self, caller: Caller, deck_id: str) -> None:
        """Make a deck active that is a draft; any other stays as it is.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            UnavailableError: others keep changing the deck.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            before = self.require(caller, deck_id)
            if before.status != "draft":
                return
            if self.repository.change(before, self._changed(before, {"status": "active"})):
                return
        raise UnavailableError("others are changing this deck", retry_after_seconds=1)

    def delete(self, caller: Caller, deck_id: str) -> None:
        """Delete a deck; what belongs to it is erased within minutes.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: the deck changed at the same time.
        """
        deck = self.require(caller, deck_id)
        deleted = DeletedDeck(
            id=deck.id,
            organization_id=deck.organization_id,
            deleted_at=self.clock.now(),
            graders=list(self.repository.grader_ids(deck.id)),
        )
        if not self.repository.mark_deleted(deck, deleted):
            raise _changed_meanwhile(deck)

    def add_version(
        self, caller: Caller, deck_id: str, request: CreateDeckVersionRequest
    ) -> DeckVersion:
        """Add a version of a deck's system prompt, and make it the current one.

        Where the current one has this prompt, it is returned: a repeat adds nothing.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: the prompt has too many placeholders.
            ConflictError: ``parent`` is not the current version, or the deck changed at the same
                time.
            TooManyEntitiesError: it has as many versions as it may.
        """
        before = self.require(caller, deck_id)
        current = self.version(caller, deck_id, before.version)
        if current.system_prompt == request.system_prompt:
            return current
        require_current(before.version, request.parent)
        require_room(before.versions, of="deck")
        number = before.versions + 1
        version = self._version(
            caller, before, number, request.system_prompt, request.note, parent=before.version
        )
        self._store(before, self._changed(before, {"version": number, "versions": number}), version)
        return version

    def add_candidate(
        self, caller: Caller, deck: Deck, prompt: str, note: str, *others: Write, edit_id: str
    ) -> None:
        """Add a version that an edit tries, not the current one, with other items; or nothing.

        Raises:
            InvalidRequestError: the prompt has too many placeholders.
            ConflictError: the deck changed at the same time.
            TooManyEntitiesError: it has as many versions as it may.
        """
        require_room(deck.versions, of="deck")
        number = deck.versions + 1
        version = self._version(caller, deck, number, prompt, note, parent=deck.version)
        version = version.model_copy(update={"prompt_edit_id": edit_id})
        after = self._changed(deck, {"versions": number})
        if not self.repository.change(deck, after, version=version, others=others):
            raise _changed_meanwhile(deck)

    def point(self, deck: Deck, version: int, *others: Write) -> None:
        """Make a version that exists the current one, with other items; or nothing.

        Raises:
            ConflictError: something changed at the same time.
        """
        after = self._changed(deck, {"version": version})
        if not self.repository.change(deck, after, others=others):
            raise _changed_meanwhile(deck)

    def version(self, caller: Caller, deck_id: str, version: int) -> DeckVersion:
        """Return a version of a deck.

        Raises:
            NotFoundError: there is no such deck or version, or it is another organisation's.
        """
        self.require(caller, deck_id)
        found = self.repository.version(deck_id, version)
        if found is None:
            raise NotFoundError(f"no version {version} of deck {deck_id}")
        return found

    def versions(
        self, caller: Caller, deck_id: str, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[DeckVersion], str | None]:
        """Return a page of a deck's versions, newest first.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
        """
        self.require(caller, deck_id)
        return self.repository.versions(deck_id, limit=limit, next_token=next_token)

    def _version(
        self,
        caller: Caller,
        deck: Deck,
        number: int,
        prompt: str,
        note: str,
        parent: int | None,
    ) -> DeckVersion:
        names = placeholders(prompt)
        if len(names) > MAX_DECK_PLACEHOLDERS:
            raise InvalidRequestError.of_field(
                "systemPrompt", f"at most {MAX_DECK_PLACEHOLDERS} placeholders, not {len(names)}"
            )
        return DeckVersion(
            organization_id=deck.organization_id,
            deck_id=deck.id,
            version=number,
            system_prompt=prompt,
            prompt_hash=prompt_hash(deck.organization_id, prompt),
            placeholders=names,
            parent=parent,
            note=note,
            author=caller.principal_id,
            created_at=self.clock.now(),
        )

    def _changed(self, before: Deck, changes: dict[str, object]) -> Deck:
        return before.model_copy(
            update={
                **changes,
                "updated_at": self.clock.now(),
                "revision": before.revision + 1,
            }
        )

    def _store(self, before: Deck, after: Deck, version: DeckVersion | None = None) -> None:
        if not self.repository.change(before, after, version=version):
            raise _changed_meanwhile(before)

    def _whole(self, deck: Deck) -> WholeDeck:
        current = self.repository.version(deck.id, deck.version)
        counts = self.repository.counts([deck.id]).get(deck.id)
        if current is None or counts is None:
            raise NotFoundError(f"no deck {deck.id}")
        figures = self.figures.of([deck.id]).get(deck.id, DeckFigures())
        return WholeDeck(deck=deck, counts=counts, figures=figures, prompt=current.system_prompt)


def _changed_meanwhile(deck: Deck) -> ConflictError:
    return ConflictError(f"deck {deck.id} changed at the same time; read it again")


def require_current(version: int, parent: int | None) -> None:
    """Require that what a version is made from is the current one.

    Raises:
        ConflictError: it is not any more.
    """
    if parent is not None and parent != version:
        raise ConflictError(f"version {parent} is not the current one, which is {version}")


def require_room(versions: int, *, of: str) -> None:
    """Require that there may be a version more.

    Raises:
        TooManyEntitiesError: there are as many as there may be.
    """
    if versions >= MAX_DECK_VERSIONS:
        raise TooManyEntitiesError(
            f"the {of} has {versions} versions, and no more may follow",
            limit=LimitProblem(
                name="deckVersions", maximum=MAX_DECK_VERSIONS, unit="versions", actual=versions
            ),
        )
