"""Looks that other graders of a deck spent at the same labels, as a copy of a grader does.

Who makes a grader anew, and brings its labels along, would begin to count anew. So looks are
counted by labels: where two graders have nearly the same of the same held-out samples, both count.

Ceiling: labels in which one of five is another, or of samples that were added again, are others.
"""

from collections import Counter
from collections.abc import Mapping

from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.look_repository import LookRepository, Looks
from autotune_platform.runtime.parts import part

LEAST_COMMON = 10
"""Fewer samples in common say nothing of whether labels are the same."""
LEAST_AGREEMENT = 0.8
"""Cohen's kappa, without weights, of labels that are taken to be the same: people who rate the same
question apart from each other hardly reach it, and different questions do not."""

Labels = Mapping[str, int | None]
"""Levels by sample, None for "does not apply"."""


@part
class SharedLooks:
    """Finds the looks at a grader's labels that others spent."""

    repository: LookRepository
    labels: LabelRepository

    def of(self, organization_id: str, deck_id: str, grader_id: str) -> Looks:
        """Return a grader's looks, with those that others of the deck spent at the same labels."""
        return self.with_others(deck_id, self.repository.looks(organization_id, deck_id, grader_id))

    def with_others(self, deck_id: str, looks: Looks) -> Looks:
        """Return looks with those of others, whose labels are read where they have any."""
        every = self.repository.of_deck(deck_id)
        others = [one for one in every if one.spent and one.grader_id != looks.grader_id]
        mine = self._labels(looks.grader_id) if others else {}
        if len(mine) < LEAST_COMMON:
            return looks
        same = [one for one in others if are_same(mine, self._labels(one.grader_id))]
        spent = [look for one in same for look in one.spent]
        return looks.model_copy(update={"others": spent})

    def _labels(self, grader_id: str) -> Labels:
        truths = self.labels.truths(grader_id, split="holdout")
        return {
            one.sample_id: one.score
            for one in truths
            if one.state == "settled" and one.selection == "random"
        }


def are_same(one: Labels, other: Labels) -> bool:
    """Return whether labels are nearly the same: of half the samples of the smaller set or more."""
    common = one.keys() & other.keys()
    if len(common) < max(LEAST_COMMON, min(len(one), len(other)) / 2):
        return False
    pairs = [(one[id_], other[id_]) for id_ in common]
    equal = sum(first == second for first, second in pairs) / len(pairs)
    firsts, seconds = (Counter(side) for side in zip(*pairs, strict=True))
    by_chance = sum(firsts[level] * seconds[level] for level in firsts) / len(pairs) ** 2
    return equal == 1 or equal - by_chance >= LEAST_AGREEMENT * (1 - by_chance)
