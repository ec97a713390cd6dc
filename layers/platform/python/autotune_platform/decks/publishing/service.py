"""Publishing graders of decks: a snapshot in the registry, by which tasks score."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from autotune.protocol.deck_publishing import UncalibratedBecause
from autotune.protocol.graders import RegisterGraderRequest, UpdateGraderRequest
from autotune.protocol.levels import Calibration
from autotune.protocol.rubrics import RubricConfiguration
from autotune_platform.access.models import Caller
from autotune_platform.checks.rubrics import rubric_version
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.graders import DeckGraderService
from autotune_platform.decks.held_out import HeldOut
from autotune_platform.decks.labels.drifting import DriftWatch
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.prompt_truths import PromptTruths, TruthsOfPrompt
from autotune_platform.decks.models import DeckGrader, GraderVersion, Published, WholeGrader
from autotune_platform.decks.new_graders import registered_id
from autotune_platform.decks.publishing.measuring import Measured, measured
from autotune_platform.decks.publishing.snapshots import (
    calibrated,
    calibration_of,
    configuration_of,
    is_same,
)
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.service import DeckService
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.service import GraderService
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.statistics.kappa import as_levels
from autotune_platform.statistics.labels import sufficiency
from autotune_platform.statistics.looks import confidence_of_look


@dataclass(frozen=True)
class _Snapshot:
    """What is published of a grader."""

    configuration: RubricConfiguration
    published: Published


@dataclass(frozen=True)
class _Found:
    """What was measured, at which look, and how many of its labels chose the version."""

    measured: Measured
    look: int
    chose_version: int


@part
class PublishingService:
    """Publishes graders of an organisation's decks.

    The registry's grader has an id that follows from the deck's grader, so that a call that was cut
    off leaves none behind that the next one does not find.
    """

    decks: DeckService
    deck_graders: DeckGraderService
    repository: DeckGraderRepository
    truths: PromptTruths
    results: ResultRepository
    held_out: HeldOut
    graders: GraderService
    connections: UsableConnections
    watch: DriftWatch
    clock: Clock = SYSTEM_CLOCK

    def publish(self, caller: Caller, deck_id: str, grader_id: str) -> WholeGrader:
        """Publish the current version of a grader, with what is known of its judge by now.

        Where that is published already, nothing changes. A calibration that fresh labels speak
        against stays suspended until the version was measured anew.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: its connection is revoked, or its texts are too long together.
            ConflictError: it is not active, or changed at the same time.
            TooManyEntitiesError: the organisation has as many graders as it may.
        """
        whole = self.deck_graders.get(caller, deck_id, grader_id)
        if whole.grader.status != "active":
            raise ConflictError(
                f"grader {grader_id} is {whole.grader.status}; only active ones are published"
            )
        looked = self.watch.look(whole.grader)
        if looked is not None:
            whole = WholeGrader(grader=looked.grader, current=whole.current)
        snapshot = self._snapshot(caller, whole)
        has_changed = self._register(caller, whole, snapshot)
        known = whole.grader.published
        if not has_changed and known is not None and _is_told(known, snapshot.published):
            return whole
        before = whole.grader
        after = before.model_copy(
            update={
                "published": snapshot.published,
                "updated_at": snapshot.published.at,
                "revision": before.revision + 1,
            }
        )
        if not self.repository.change(before, after):
            raise ConflictError(f"grader {grader_id} changed at the same time; publish it again")
        return WholeGrader(grader=after, current=whole.current)

    def _snapshot(self, caller: Caller, whole: WholeGrader) -> _Snapshot:
        version, now = whole.current, self.clock.now()
        assert version.judge is not None, "an active grader has a judge"
        connection = self.connections.require(
            caller.organization_id, version.judge.connection_id, field="judge.connectionId"
        )
        deck = self.decks.get(caller, version.deck_id)
        assert deck.prompt is not None, "a deck that is read alone has its prompt"
        bare = configuration_of(version, deck.prompt)
        labelled = self.truths.of(
            version.organization_id,
            version.deck_id,
            version.grader_id,
            deck_version=deck.deck.version,
        )
        found = self._measured(whole.grader, version, labelled)
        said = None if found is None else found.measured
        before = whole.grader.published
        suspended = still_suspended(before, version.version, said)
        if before is not None and suspended is not None:
            calibration: Calibration | None = suspended.model_copy(
                update={"grader_version": rubric_version(bare)}
            )
            because: UncalibratedBecause | None = "drifted"
        else:
            calibration = None
            if found is not None:
                calibration = calibration_of(
                    found.measured,
                    bare,
                    connection.provider,
                    now,
                    look=found.look,
                    chose_version=found.chose_version,
                )
            because = _because(said, labelled)
        published = Published(
            grader_id=registered_id(whole.grader.id),
            grader_version=rubric_version(bare),
            version=version.version,
            deck_version=deck.deck.version,
            at=now,
            calibration=calibration,
            because=because,
            drifted={} if before is None else before.drifted,
        )
        return _Snapshot(calibrated(bare, calibration), published)

    def _measured(
        self, grader: DeckGrader, version: GraderVersion, labelled: TruthsOfPrompt
    ) -> _Found | None:
        """Return what was measured at the look that this takes; None where nothing was.

        Where the labels do not suffice, nothing is claimed, and no look more is spent.
        """
        places = ((grader.id, version.version, one.sample_id) for one in labelled.truths)
        first = self.results.first(places).values()
        again = self.results.of_version(grader.id, version.version, repeated=True)
        said = [*first, *again]
        drawn = {one.sample_id for one in labelled.truths if one.counts}
        look = None
        if any(one.sample_id in drawn for one in said):
            look = self.held_out.spend(grader, version)
        confidence = confidence_of_look(0 if look is None else look.number)
        drifted = grader.published.drifted if grader.published else {}
        measured_at = partial(
            measured,
            labelled.truths,
            said,
            version=version.version,
            drifted=drifted,
            left=labelled.left,
        )
        found = measured_at(confidence=confidence)
        if found is None or look is None:
            return None
        numbers = {
            model: self.held_out.spend_measured(grader, version.version, digest).number
            for model, digest in found.claims.items()
        }
        if any(number != look.number for number in numbers.values()):
            of_models = {one: confidence_of_look(number) for one, number in numbers.items()}
            found = measured_at(confidence=confidence, of_models=of_models)
            assert found is not None, "a confidence takes nothing away"
        chose = sum(look.chose(one.first_at) for one in found.labels)
        number = numbers.get(found.model, look.number)
        return _Found(found, look=number, chose_version=chose)

    def _register(self, caller: Caller, whole: WholeGrader, snapshot: _Snapshot) -> bool:
        """Have the registry hold a snapshot; return whether it did not before."""
        name, published = whole.grader.name, snapshot.published
        before = self._registered(caller, published.grader_id)
        if before is not None and is_same(before, name, snapshot.configuration):
            return False
        description = (
            f"Version {published.version} of grader {whole.grader.id} of deck "
            f"{whole.grader.deck_id}, under version {published.deck_version} of its system prompt"
        )
        if before is None:
            request = RegisterGraderRequest(
                name=name, kind="rubric", description=description, rubric=snapshot.configuration
            )
            self.graders.register(caller, request, grader_id=published.grader_id)
        else:
            change = UpdateGraderRequest(
                name=name, description=description, rubric=snapshot.configuration
            )
            self.graders.update(caller, "organization", before.id, change)
        return True

    def _registered(self, caller: Caller, grader_id: str) -> Grader | None:
        try:
            return self.graders.get_managed(caller, "organization", grader_id)
        except NotFoundError:
            return None


def still_suspended(
    before: Published | None, version: int, found: Measured | None
) -> Calibration | None:
    """Return the suspended calibration of a version that was not measured anew; None without."""
    if before is None or before.version != version or before.calibration is None:
        return None
    is_new = found is not None and found.because is None
    return None if is_new or before.calibration.suspended is None else before.calibration


def _because(found: Measured | None, labelled: TruthsOfPrompt) -> UncalibratedBecause | None:
    """Return why a version is not calibrated: where labels are of another prompt, that."""
    because = "not_judged" if found is None else found.because
    if because not in {"not_judged", "insufficient_labels"} or _suffice(labelled.truths):
        return because
    return "other_prompt" if _suffice([*labelled.truths, *labelled.others]) else because


def _suffice(truths: Iterable[Truth]) -> bool:
    levels = [one.score for one in truths if one.counts and one.state == "settled"]
    return sufficiency(as_levels(levels)).is_sufficient


def _is_told(before: Published, after: Published) -> bool:
    """Return whether one says the same as another, whenever."""
    return _timeless(before) == _timeless(after)


def _timeless(published: Published) -> dict[str, object]:
    return published.model_dump(exclude={"at": True, "calibration": {"measured_at"}})
