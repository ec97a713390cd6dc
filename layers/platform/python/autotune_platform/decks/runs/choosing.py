"""Which samples a run judges, and by which graders, before anything of it is stored."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.protocol.deck_runs import StartDeckRunRequest
from autotune.protocol.limits import DECK_REPEATED_SAMPLES, MAX_DECK_TRIAL_SAMPLES
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.choosing import drawn_to_check
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.prompt_truths import PromptTruths
from autotune_platform.decks.models import Deck, DeckGrader, GraderVersion, Sample
from autotune_platform.decks.prompting.repository import PromptEditRepository
from autotune_platform.decks.results import ResultRepository
from autotune_platform.decks.sample_repository import SampleRepository
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class Chosen:
    """What a run judges: samples in the order in which they are judged, and graders' versions.

    Attributes:
        again_by: by number of a version the model that is to have judged each sample.
    """

    samples: Sequence[Sample]
    versions: Sequence[GraderVersion]
    again_by: Mapping[int, str] = field(default_factory=dict)


@part
class RunChoosing:
    """Finds what a request names, or means where it names nothing."""

    graders: DeckGraderRepository
    samples: SampleRepository
    results: ResultRepository
    truths: PromptTruths
    edits: PromptEditRepository

    def choose(self, deck: Deck, request: StartDeckRunRequest) -> Chosen:
        """Return what is to be judged.

        Raises:
            InvalidRequestError: a grader, sample or edit is none of the deck's, or may not be used
                so.
            ConflictError: there is no grader, or no sample, to judge.
        """
        graders = self._graders(deck.id, request)
        current = self.graders.current(graders)
        versions = [current[one.id] for one in graders if one.id in current]
        for place, version in enumerate(versions):
            if version.judge is None:
                raise InvalidRequestError.of_field(
                    f"graderIds[{place}]", "a grader with a judge", detail="it has no judge yet"
                )
        samples = self._samples(deck, request, versions)
        if any(one.status == "proposed" for one in graders):
            _require_trial(request, samples)
        if not samples:
            raise ConflictError("there is no such sample to judge in this deck")
        return Chosen(samples=samples, versions=versions)

    def _graders(self, deck_id: str, request: StartDeckRunRequest) -> list[DeckGrader]:
        known = {one.id: one for one in self.graders.list(deck_id)}
        if request.grader_ids is None:
            active = [one for one in known.values() if one.status == "active"]
            if not active:
                raise ConflictError("no grader of this deck is active; activate one first")
            return active
        found: dict[str, DeckGrader] = {}
        for place, id_ in enumerate(request.grader_ids):
            grader = known.get(id_)
            if grader is None or grader.status == "retired":
                why = "it is retired" if grader else "the deck has no such grader"
                raise InvalidRequestError.of_field(
                    f"graderIds[{place}]", "a grader of this deck that is not retired", detail=why
                )
            found[id_] = grader
        return list(found.values())

    def _samples(
        self, deck: Deck, request: StartDeckRunRequest, versions: Sequence[GraderVersion]
    ) -> list[Sample]:
        if request.sample_ids is not None:
            return self._named(deck.id, request.sample_ids)
        of_deck, edit_id = request.deck_version, request.prompt_edit_id
        if request.labelled:
            return self._labelled(deck, of_deck or deck.version, versions)
        if edit_id is not None and self.edits.get(deck.id, edit_id) is None:
            raise InvalidRequestError.of_field(
                "promptEditId", "an edit of this deck's prompt", detail="the deck has no such edit"
            )
        wanted = [
            one
            for one in self.samples.walk(deck.id)
            if one.prompt_edit_id == edit_id
            and (request.split is None or one.split == request.split)
            and (of_deck is None or one.deck_version == of_deck)
        ]
        return self._judged_before(deck, wanted, versions[0]) if request.repeat else wanted

    def _named(self, deck_id: str, sample_ids: Iterable[str]) -> list[Sample]:
        ids = list(dict.fromkeys(sample_ids))
        found = self.samples.headers(deck_id, ids)
        for place, id_ in enumerate(ids):
            if id_ not in found:
                raise InvalidRequestError.of_field(
                    f"sampleIds[{place}]",
                    "a sample of this deck",
                    detail="the deck has no such sample",
                )
        return [found[id_] for id_ in ids]

    def _labelled(
        self, deck: Deck, deck_version: int, versions: Iterable[GraderVersion]
    ) -> list[Sample]:
        """Return the samples that a judge is measured on, the oldest first."""
        ids = {
            one.sample_id
            for version in versions
            for one in self._truths(deck, deck_version, version)
            if one.counts and one.state == "settled"
        }
        found = self.samples.headers(deck.id, sorted(ids))
        return [found[id_] for id_ in sorted(found)]

    def _truths(self, deck: Deck, deck_version: int, version: GraderVersion) -> Sequence[Truth]:
        found = self.truths.of(
            deck.organization_id, deck.id, version.grader_id, deck_version=deck_version
        )
        return found.truths

    def _judged_before(
        self, deck: Deck, samples: Iterable[Sample], version: GraderVersion
    ) -> list[Sample]:
        """Return twenty samples that were judged, always the same ones of these.

        First those by which a model is checked that follows a calibrated one: publishing draws the
        same, of the same labels.
        """
        of_version = self.results.of_version(version.grader_id, version.version)
        judged = {one.sample_id for one in of_version if one.status == "scored"}
        truths = self._truths(deck, deck.version, version)
        checked = {*drawn_to_check(version.grader_id, version.version, truths)}
        found = sorted(
            (one for one in samples if one.id in judged | checked),
            key=lambda one: (one.id not in checked, _shuffled(one)),
        )
        return found[:DECK_REPEATED_SAMPLES]


def _shuffled(sample: Sample) -> bytes:
    return hashlib.sha256(sample.id.encode()).digest()


def _require_trial(request: StartDeckRunRequest, samples: Sequence[Sample]) -> None:
    """Require that graders which are not activated judge few samples, of the development half.

    Raises:
        InvalidRequestError: they do not.
    """
    expected = f"up to {MAX_DECK_TRIAL_SAMPLES} samples of the development half"
    if request.sample_ids is None or len(samples) > MAX_DECK_TRIAL_SAMPLES:
        raise InvalidRequestError.of_field(
            "sampleIds", expected, detail="a proposed grader may only be tried"
        )
    for place, one in enumerate(samples):
        if one.split != "development":
            raise InvalidRequestError.of_field(
                f"sampleIds[{place}]", expected, detail="it is held out"
            )
