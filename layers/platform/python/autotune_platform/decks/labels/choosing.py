"""Which sample a person rates next: held-out ones in an order drawn once, then the others.

The order of a grader's samples follows from a hash of their ids, which hold 80 random bits: to take
the first that nobody rated is to draw one of all that nobody rated, each as likely as another.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.protocol.deck_feedback import Selection
from autotune.protocol.deck_samples import Split
from autotune_platform.decks.labels.repository import Rated
from autotune_platform.decks.models import DeckGrader
from autotune_platform.judging.human.models import draw


@dataclass(frozen=True)
class Candidate:
    """A sample that a person may rate, how it was come upon, and with which probability."""

    sample_id: str
    selection: Selection
    probability: float | None


def to_rate(
    grader: DeckGrader,
    rater: str,
    *,
    halves: Mapping[str, Split],
    rated: Mapping[str, Rated],
    held: frozenset[str],
) -> list[Candidate]:
    """Return what a person may rate, in order.

    What is to be rated by several comes among the rest: its turn is its place in the order.

    Args:
        halves: every sample of the deck, with its half.
        rated: those that somebody rated.
        held: those that others are at.
    """
    unrated: dict[Split, int] = {"holdout": 0, "development": 0}
    wanted: list[tuple[bool, float, str]] = []
    for sample_id, split in halves.items():
        by = rated.get(sample_id)
        if by is None:
            unrated[split] += 1
        is_wanted = by is None or (
            rater not in by.raters and len(by.raters) < raters_wanted(grader, sample_id)
        )
        if is_wanted and sample_id not in held:
            wanted.append((split != "holdout", draw(grader.id, sample_id), sample_id))
    return [
        _candidate(grader, sample_id, halves[sample_id], rated.get(sample_id), unrated)
        for _, _, sample_id in sorted(wanted)
    ]


def to_adjudicate(
    grader: DeckGrader, *, rated: Mapping[str, Rated], held: frozenset[str]
) -> list[Candidate]:
    """Return what people are apart on, held-out samples first."""
    wanted = sorted(
        (one.split != "holdout", draw(grader.id, sample_id), sample_id)
        for sample_id, one in rated.items()
        if one.state == "to_adjudicate" and sample_id not in held
    )
    return [Candidate(sample_id, "disagreement", None) for _, _, sample_id in wanted]


def raters_wanted(grader: DeckGrader, sample_id: str) -> int:
    """Return how many people are to rate a sample: a share goes to several."""
    is_shared = draw(f"shared#{grader.id}", sample_id) < grader.shared_share
    return grader.shared_raters if is_shared else 1


def _candidate(
    grader: DeckGrader,
    sample_id: str,
    split: Split,
    by: Rated | None,
    unrated: Mapping[Split, int],
) -> Candidate:
    if by is None:
        return Candidate(sample_id, "random", 1 / unrated[split])
    # Drawn by the share that goes to several, of samples that came as they came.
    return Candidate(sample_id, by.selection, grader.shared_share)
