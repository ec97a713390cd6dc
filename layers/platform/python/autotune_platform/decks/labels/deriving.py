"""Ground truth as it follows from what people said; it is derived anew with each word."""

import hashlib
from datetime import datetime

from autotune.protocol.deck_feedback import TruthSource
from autotune_platform.decks.labels.models import Adjudication, Rating, Truth, Voice
from autotune_platform.statistics.truth import DOES_NOT_APPLY, Settled, ground_truth
from autotune_platform.statistics.truth import Rating as Opinion

_SOURCES: dict[Settled, TruthSource] = {
    Settled.ADJUDICATED: "adjudicated",
    Settled.MEDIAN: "median",
    Settled.ONE_RATING: "one_rating",
    Settled.KEYED_HASH: "keyed_hash",
}


def with_rating(truth: Truth, rating: Rating) -> Truth:
    """Return the truth after one more rating."""
    truth = _drawn_by(truth, rating)
    before = truth.voices.get(rating.rater)
    word = rating.word
    voice = (
        before.after(word, is_claimed=truth.was_drawn)
        if before
        else Voice(
            blind=None if word.saw_result else word,
            latest=word,
            drawn=rating.selection == "random",
        )
    )
    voices = {**truth.voices, rating.rater: voice}
    return _derived(truth.model_copy(update={"voices": voices}), rating.created_at)


def _drawn_by(truth: Truth, rating: Rating) -> Truth:
    """Return the truth of a held-out sample as drawn from its first drawn word on.

    What people said before, who chose it, counts no more, and what was decided about that neither.
    """
    if truth.split != "holdout" or truth.was_drawn or rating.selection != "random":
        return truth
    return truth.model_copy(
        update={
            "selection": rating.selection,
            "probability": rating.probability,
            "first_at": rating.created_at,
            "adjudication": None,
        }
    )


def as_of(truth: Truth, by: datetime) -> Truth:
    """Return a truth by the words that had been said by a moment; as it is where none had.

    Who says something of a sample later leaves it in a figure, with what was true of it then.
    """
    if truth.first_at is not None and truth.first_at > by:
        return truth
    voices = {
        rater: _before(voice, by)
        for rater, voice in truth.voices.items()
        if (voice.blind or voice.latest).at <= by
    }
    decided = truth.adjudication
    adjudication = decided if decided is not None and decided.at <= by else None
    if not voices or (voices == truth.voices and adjudication == decided):
        return truth
    changes = {"voices": voices, "adjudication": adjudication}
    return _derived(truth.model_copy(update=changes), truth.updated_at)


def _before(voice: Voice, by: datetime) -> Voice:
    """Return a voice without a last word that came later than the one that counts."""
    if voice.blind is None or voice.latest.at <= by:
        return voice
    changes = {"latest": voice.blind, "corrections": max(0, voice.corrections - 1)}
    return voice.model_copy(update=changes)


def with_adjudication(truth: Truth, adjudication: Adjudication) -> Truth:
    """Return the truth after a person decided."""
    return _derived(truth.model_copy(update={"adjudication": adjudication}), adjudication.at)


def tie_key(organization_id: str, grader_id: str) -> bytes:
    """Return the key by which a gap of one level falls to either side."""
    return hashlib.sha256(f"truth:{organization_id}:{grader_id}".encode()).digest()


def _derived(truth: Truth, at: datetime) -> Truth:
    found = ground_truth(
        [_rating(word.score) for word in truth.words.values()],
        adjudicated=_rating(truth.adjudication.score) if truth.adjudication else None,
        key=tie_key(truth.organization_id, truth.grader_id),
        sample_id=truth.sample_id,
    )
    is_open = found.how is Settled.TO_ADJUDICATE
    return truth.model_copy(
        update={
            "state": "to_adjudicate" if is_open else "settled",
            "source": None if is_open else _SOURCES[found.how],
            "score": found.level,
            "updated_at": at,
            "revision": truth.revision + 1,
        }
    )


def _rating(score: int | None) -> Opinion:
    return DOES_NOT_APPLY if score is None else score
