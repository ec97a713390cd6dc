"""A short stream in which a version goes through all of its life, for where inputs take long."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.apprentice.streams import Query, known_queries, shuffled

FEW: Final = 360
"""Inputs that suffice for that."""
WHOLE: Final = 10_000
"""From so many inputs on, the stream and the thresholds are those of the comparison."""
_INTENTS = 20
_SEED = 1

SETTINGS: Final[Mapping[str, Any]] = {
    # Functions share two processors with all else here.
    "local": {"backend": "linear", "gate": "confidence", "timeoutMs": 20_000},
    "thresholds": {
        "phase1ToPhase2": 160,
        "phase2ToPhase3": 0.6,
        "coachingTrigger": 0.45,
        "emergencyThreshold": 0.05,
    },
    "confidence": {"windowSize": 20, "falseAlarmPairs": 100},
    "sampling": {"decay": "exponential", "minFloor": 0.2},
    "training": {
        "backend": "linear",
        "fineTuneBatchSize": 160,
        "holdout": 0.4,
        "canary": [1],
    },
}


def stream_of_stack(inputs: int) -> tuple[Sequence[Query], Mapping[str, Any]]:
    """Return the first inputs of a stream, and what the configuration has for it."""
    _, queries = known_queries()
    if inputs >= WHOLE:
        settings = {"local": SETTINGS["local"]}
        return shuffled(queries, _SEED, most=inputs).queries, settings
    some = sorted({query.intent for query in queries})[:_INTENTS]
    few = [query for query in queries if query.intent in some]
    return shuffled(few, _SEED, most=inputs).queries, SETTINGS
