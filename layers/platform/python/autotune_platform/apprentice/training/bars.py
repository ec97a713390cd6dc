"""What a configuration asks of a trained model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autotune_platform.apprentice.folding.settings import rules_of
from autotune_platform.apprentice.validation.judging import Bar


def bar_of(document: Mapping[str, Any], *, attempt: int) -> Bar:
    """Return what a model has to reach.

    Args:
        document: a configuration as it was put, with all defaults; it has ``training``.
        attempt: the how many-th model it is that is judged under its definition, from 1.
    """
    training = document["training"]
    rules = rules_of(document, attempt=attempt)
    threshold = training["promoteThreshold"]
    if threshold is not None:
        # Those of alarms have no say here, and have to be below it.
        rules = replace(
            rules,
            graduation=threshold,
            coaching=min(rules.coaching, threshold * 0.9),
            emergency=min(rules.emergency, threshold * 0.8),
        )
    return Bar(
        rules=rules,
        margin=training["noninferiorityMargin"],
        timeout_ms=document["local"]["timeoutMs"],
        is_gated=document["local"]["gate"] == "confidence",
    )
