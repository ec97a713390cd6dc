"""Whether a comparison stands although inputs have not been answered under both prompts.

What was refused, came empty, failed or was deleted is in no mean: a prompt under which a model
refuses what it is bad at would be better by that alone.
"""

from autotune.protocol.deck_prompt_edits import PromptMissing
from autotune_platform.statistics.distributions import binomial_cdf

MOST_MISSING = 0.05
"""The share of drawn inputs that may be in no pair."""

_CHANCE = 0.05


def missing_because(drawn: int, pairs: int, *, old: int, new: int) -> PromptMissing | None:
    """Return why nothing can be claimed of pairs; None where too few inputs are missing.

    Args:
        drawn: inputs that both prompts were to answer.
        pairs: those that are compared.
        old: those that have a response under the old prompt.
        new: those that have one under the new prompt.
    """
    if drawn - pairs > MOST_MISSING * drawn:
        return "missing_responses"
    # Under equal prompts, which of two responses is missing is a fair coin (McNemar's exact test).
    fewer, more = sorted((old, new))
    apart = (fewer - pairs) + (more - pairs)
    if 2 * binomial_cdf(fewer - pairs, apart, 0.5) < _CHANCE:
        return "unequal_responses"
    return None
