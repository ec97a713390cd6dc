"""Rewards from Autotune in other people's trainers, each in a module named for the trainer.

===============  =======================================================
``trl``          ``AutotuneReward``, ``AsyncAutotuneReward``
``verl``         ``compute_score``, ``compute_score_async``
``verifiers``    ``AutotuneReward``, ``AutotuneRubric``
``swift``        ``AutotuneORM``, ``AsyncAutotuneORM``
``skyrl``        ``AutotuneEnv``
===============  =======================================================

Whatever has no score is left out in the trainer's own way, or ends the call with
``NotScoredError`` where the trainer has none. It never becomes a reward.
"""

from autotune.integrations.rollouts import Rollout
from autotune.integrations.scoring import AsyncScorer, Scorer
from autotune.integrations.settings import ScoringOptions, ScoringSettings, find_settings
from autotune.integrations.unscored import NotScoredError

__all__ = [
    "AsyncScorer",
    "NotScoredError",
    "Rollout",
    "Scorer",
    "ScoringOptions",
    "ScoringSettings",
    "find_settings",
]
