"""Samples that came when labels had been drawn already: those labels say nothing of them.

Samples for which the same draws were made form a cohort, and within one each was as likely to be
drawn as another. So the labels of a cohort stand for it, and for no other: a mean weighs each label
by how many samples of its cohort it stands for. Cohorts next to each other are taken together until
they have ten labels. Where the latest have fewer, nobody can say anything of them yet.

Ceiling: a file of labels is taken to be drawn from what was there when it was uploaded.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from autotune.protocol.ids import earliest_id

LEAST_LABELS = 10
"""Fewer labels stand for no cohort."""


@dataclass(frozen=True)
class Cohorts:
    """Samples by what was drawn once they were there, the oldest first.

    Attributes:
        late: those that came later than all but a few draws; no figure is of them.
    """

    samples: Sequence[Collection[str]]
    late: Collection[str]

    def weights(self, labelled: Collection[str]) -> dict[str, float]:
        """Return of each labelled sample for how many of its cohort it stands."""
        found = {}
        for cohort in self.samples:
            own = [id_ for id_ in cohort if id_ in labelled]
            found.update({id_: len(cohort) / len(own) for id_ in own})
        return found


def cohorts(sample_ids: Collection[str], drawn: Mapping[str, datetime]) -> Cohorts:
    """Return the cohorts of samples, whose ids say when they came.

    Args:
        drawn: when those that have a label were drawn; each of them is one of the samples.
    """
    draws = sorted(earliest_id("smp", at) for at in drawn.values())
    found: list[list[str]] = [[]]
    labels = 0
    for _, together in groupby(sorted(sample_ids), key=lambda id_: bisect_right(draws, id_)):
        if labels >= LEAST_LABELS:
            found.append([])
            labels = 0
        cohort = list(together)
        found[-1] += cohort
        labels += sum(id_ in drawn for id_ in cohort)
    late = found.pop() if len(found) > 1 and labels < LEAST_LABELS else []
    return Cohorts(found, frozenset(late))
