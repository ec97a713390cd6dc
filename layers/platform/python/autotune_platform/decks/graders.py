"""Making, reading and changing the graders of decks and their versions."""

from collections.abc import Sequence

from autotune.protocol.deck_rubrics import (
    CreateDeckGraderRequest,
    CreateGraderVersionRequest,
    DeckGraderOrigin,
    DeckJudge,
    UpdateDeckGraderRequest,
)
from autotune.protocol.ids import new_id
from autotune.protocol.levels import LevelsRubric
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.example_erasing import ExampleEraser
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.models import Deck, DeckGrader, GraderVersion, WholeGrader
from autotune_platform.decks.new_graders import digest_of, new_grader
from autotune_platform.decks.service import DeckService, require_current, require_room
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part


@part
class DeckGraderService:
    """Keeps the graders of an organisation's decks."""

    decks: DeckService
    repository: DeckGraderRepository
    samples: SamplePool
    examples: ExampleEraser
    connections: UsableConnections
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, deck_id: str, request: CreateDeckGraderRequest) -> WholeGrader:
        """Make a grader of a deck, which grades nothing before it is activated.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: the judge's connection is none that the organisation may use, or an
                example is a sample that is held out.
            TooManyEntitiesError: the deck has as many graders as it may.
        """
        deck = self.decks.require(caller, deck_id)
        cited = self._require_development(deck_id, request.rubric)
        self._require_judge(caller, request.judge)
        made = self.add(
            deck,
            name=request.name,
            rubric=request.rubric,
            judge=request.judge,
            origin=request.origin,
            note=request.note,
            author=caller.principal_id,
        )
        self.examples.erase_gone(deck_id, cited)
        return made

    def add(
        self,
        deck: Deck,
        *,
        name: str,
        rubric: LevelsRubric,
        judge: DeckJudge | None,
        origin: DeckGraderOrigin,
        note: str,
        author: str,
    ) -> WholeGrader:
        """Store a grader whose parts were checked.

        Raises:
            TooManyEntitiesError: the deck has as many graders as it may.
        """
        made = new_grader(
            grader_id=new_id("grd"),
            deck=(deck.organization_id, deck.id),
            name=name,
            rubric=rubric,
            judge=judge,
            origin=origin,
            note=note,
            author=author,
            now=self.clock.now(),
        )
        self.repository.add(made.grader, made.current)
        return made

    def get(self, caller: Caller, deck_id: str, grader_id: str) -> WholeGrader:
        """Return a grader of a deck with its current version.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        return self._whole(self._require(caller, deck_id, grader_id))

    def list(self, caller: Caller, deck_id: str) -> list[WholeGrader]:
        """Return all graders of a deck with their current versions, oldest first.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
        """
        self.decks.require(caller, deck_id)
        graders = self.repository.list(deck_id)
        current = self.repository.current(graders)
        return [
            WholeGrader(grader=one, current=current[one.id]) for one in graders if one.id in current
        ]

    def update(
        self, caller: Caller, deck_id: str, grader_id: str, request: UpdateDeckGraderRequest
    ) -> WholeGrader:
        """Rename, activate or retire a grader, or make another of its versions the current one.

        A deck that is a draft is active from its first grader on that is activated.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: it has no such version, or is to be activated without a judge.
            ConflictError: the version is of an edit that is not accepted, or the grader changed at
                the same time.
            UnavailableError: others keep changing the deck.
        """
        before = self._require(caller, deck_id, grader_id)
        changes: dict[str, object] = {name: value for name, value in request if value is not None}
        current = self.version(caller, deck_id, grader_id, request.version or before.version)
        if request.version is not None:
            if current.candidate:
                raise ConflictError(
                    f"version {current.version} is of edit {current.edit_id}, which is not "
                    "accepted; accept the edit"
                )
            changes["digest"] = current.digest
        after = self._changed(before, changes)
        if after.status == "active":
            _require_ready(current)
            if before.status != "active":
                self._require_judge(caller, current.judge)
        self._store(before, after)
        if request.status == "active":
            # Also where it is active: whoever activated it may have been killed here.
            self.decks.take_up(caller, deck_id)
        return WholeGrader(grader=after, current=current)

    def delete(self, caller: Caller, deck_id: str, grader_id: str) -> None:
        """Delete a grader that was only proposed; one that was active is retired instead.

        What judges and people said for it is erased within minutes.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            ConflictError: it is or was active, or changed at the same time.
        """
        grader = self._require(caller, deck_id, grader_id)
        if grader.status != "proposed":
            raise ConflictError(
                f"grader {grader_id} is {grader.status}, and its results name it; retire it instead"
            )
        if not self.repository.delete(grader, self.clock.now()):
            raise _changed_meanwhile(grader)

    def add_version(
        self, caller: Caller, deck_id: str, grader_id: str, request: CreateGraderVersionRequest
    ) -> GraderVersion:
        """Add a version of a grader, and make it the current one.

        Where the current one has this content, it is returned: a repeat adds nothing.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: the judge's connection is none that the organisation may use, or an
                example is a sample that is held out.
            ConflictError: ``parent`` is not the current version, or the grader changed at the same
                time.
            TooManyEntitiesError: it has as many versions as it may.
        """
        before = self._require(caller, deck_id, grader_id)
        current = self._whole(before).current
        judge = request.judge or current.judge
        digest = digest_of(request.rubric, judge)
        if digest == current.digest:
            return current
        require_current(before.version, request.parent)
        require_room(before.versions, of="grader")
        cited = self._require_development(deck_id, request.rubric)
        self._require_judge(caller, request.judge)
        version = GraderVersion(
            organization_id=before.organization_id,
            deck_id=deck_id,
            grader_id=grader_id,
            version=before.versions + 1,
            digest=digest,
            rubric=request.rubric,
            judge=judge,
            parent=before.version,
            note=request.note,
            edit_id=request.edit_id,
            author=caller.principal_id,
            created_at=self.clock.now(),
        )
        number = version.version
        after = self._changed(
            before, {"version": number, "versions": number, "digest": version.digest}
        )
        self._store(before, after, version)
        self.examples.erase_gone(deck_id, cited)
        return version

    def version(self, caller: Caller, deck_id: str, grader_id: str, version: int) -> GraderVersion:
        """Return a version of a grader.

        Raises:
            NotFoundError: there is no such deck, grader or version, or it is another
                organisation's.
        """
        self._require(caller, deck_id, grader_id)
        found = self.repository.version(deck_id, grader_id, version)
        if found is None:
            raise NotFoundError(f"no version {version} of grader {grader_id}")
        return found

    def versions(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        *,
        candidate: bool | None = None,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[GraderVersion], str | None]:
        """Return a page of a grader's versions, newest first.

        Args:
            candidate: only those of edits that are not accepted, or only the others.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        self._require(caller, deck_id, grader_id)
        return self.repository.versions(
            deck_id, grader_id, candidate=candidate, limit=limit, next_token=next_token
        )

    def _require(self, caller: Caller, deck_id: str, grader_id: str) -> DeckGrader:
        self.decks.require(caller, deck_id)
        return self.repository.get(deck_id, grader_id)

    def _require_judge(self, caller: Caller, judge: DeckJudge | None) -> None:
        if judge is not None:
            self.connections.require(
                caller.organization_id, judge.connection_id, field="judge.connectionId"
            )

    def _require_development(self, deck_id: str, rubric: LevelsRubric) -> set[str]:
        """Require that no example is a held-out sample: a judge would know what measures it.

        Returns:
            The samples of the deck that are examples.

        Raises:
            InvalidRequestError: one is.
        """
        named = {
            place: one.sample_id
            for place, one in enumerate(rubric.examples)
            if one.sample_id is not None
        }
        found = self.samples.get_many(deck_id, set(named.values())) if named else {}
        for place, id_ in named.items():
            if id_ in found and found[id_].split != "development":
                raise InvalidRequestError.of_field(
                    f"rubric.examples[{place}].sampleId",
                    "a sample of the development half",
                    detail=f"sample {id_} is held out",
                )
        return set(found)

    def _whole(self, grader: DeckGrader) -> WholeGrader:
        current = self.repository.version(grader.deck_id, grader.id, grader.version)
        if current is None:
            raise NotFoundError(f"no grader {grader.id} in deck {grader.deck_id}")
        return WholeGrader(grader=grader, current=current)

    def _changed(self, before: DeckGrader, changes: dict[str, object]) -> DeckGrader:
        return before.model_copy(
            update={
                **changes,
                "updated_at": self.clock.now(),
                "revision": before.revision + 1,
            }
        )

    def _store(
        self, before: DeckGrader, after: DeckGrader, version: GraderVersion | None = None
    ) -> None:
        if not self.repository.change(before, after, version=version):
            raise _changed_meanwhile(before)


def _require_ready(version: GraderVersion) -> None:
    """Require that a version can grade: that a model judges, and that its levels differ.

    Raises:
        InvalidRequestError: it cannot.
    """
    if version.judge is None:
        raise InvalidRequestError.of_field(
            "status", "a grader with a judge", detail="no model judges; add a version with a judge"
        )
    texts = [" ".join(text.split()).casefold() for text in version.rubric.levels]
    if "" in texts or len(set(texts)) < len(texts):
        raise InvalidRequestError.of_field(
            "status",
            "a grader with seven different levels",
            detail="levels are empty or the same; add a version in which they are not",
        )


def _changed_meanwhile(grader: DeckGrader) -> ConflictError:
    return ConflictError(f"grader {grader.id} changed at the same time; read it again")
