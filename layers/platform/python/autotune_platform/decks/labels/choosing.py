"""Which sample a person rates next: held-out ones in an order drawn once, then the others.

The order of a grader's samples follows from a hash of their ids, which hold 80 random bits: to take
the first that nobody rated is to draw one of all that nobody rated, each as likely as another.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autotune.protocol.deck_feedback import Selection
from autotune.protocol.deck_samples import Split
from autotune.protocol.limits import MAX_SAMPLE_RATERS
from autotune_platform.decks.labels.models import Truth
from autotune_platform.decks.labels.repository import Rated
from autotune_platform.decks.models import DeckGrader
from autotune_platform.judging.human.models import draw
from autotune_platform.statistics.drift import DRIFT_LABELS


@dataclass(frozen=True)
class Candidate:
    """A sample that a person may rate, how it was come upon, and with which probability."""

    sample_id: str
    selection: Selection
    probability: float | None


def is_wanted(grader: DeckGrader, rater: str, sample_id: str, by: Rated | None) -> bool:
    """Return whether a person may rate a sample, by who did.

    What is to be rated by several comes among the rest: its turn is its place in the order. So does
    a held-out sample that somebody chose to rate: nothing else would make it count.
    """
    if by is None:
        return True
    most = MAX_SAMPLE_RATERS if by.is_undrawn else raters_wanted(grader, sample_id)
    return rater not in by.raters and len(by.raters) < most


def is_unrated(by: Rated | None) -> bool:
    """Return whether a sample is still to be drawn: nobody rated it, or who chose it alone."""
    return by is None or by.is_undrawn


def draw_of(grader: DeckGrader, split: Split, sample_id: str) -> tuple[bool, float]:
    """Return the place of a sample in the order of a grader."""
    return split != "holdout", draw(grader.id, sample_id)


def to_adjudicate(
    grader: DeckGrader, *, rated: Mapping[str, Rated], held: frozenset[str]
) -> list[Candidate]:
    """Return what people are apart on, held-out samples first."""
    wanted = sorted(
        (*draw_of(grader, one.split, sample_id), sample_id)
        for sample_id, one in rated.items()
        if one.state == "to_adjudicate" and sample_id not in held
    )
    return [Candidate(sample_id, "disagreement", None) for _, _, sample_id in wanted]


def raters_wanted(grader: DeckGrader, sample_id: str) -> int:
    """Return how many people are to rate a sample: a share goes to several."""
    is_shared = draw(f"shared#{grader.id}", sample_id) < grader.shared_share
    return grader.shared_raters if is_shared else 1


def drawn_to_check(grader_id: str, version: int, truths: Iterable[Truth]) -> list[str]:
    """Return the twenty labelled samples by which a model is checked that follows another one.

    They are drawn, and the same for each model: who could pick them would pick what is easy.
    """
    levels = [
        one.sample_id
        for one in truths
        if one.counts and one.state == "settled" and one.score is not None
    ]
    ordered = sorted(levels, key=lambda id_: draw(f"check#{grader_id}#{version}", id_))
    return ordered[:DRIFT_LABELS]
