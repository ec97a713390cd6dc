"""Sees that answers of graders name another version than the one that was registered."""

from collections.abc import Iterable
from dataclasses import field

from aws_lambda_powertools import Logger
from cachetools import TTLCache

from autotune_platform.graders.answered_versions import AnsweredVersions
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.decisions import Decision

logger = Logger()

_NOTED = 1_024
_NOTED_SECONDS = 300


@part
class VersionWitness:
    """Notes one version of each grader in five minutes, as often as graders are probed.

    Only the latest counts with a probe. A grader that names another version with each answer costs
    no more writes than others do, and holds up nobody else's decisions.
    """

    answered: AnsweredVersions
    _noted: TTLCache[str, bool] = field(
        default_factory=lambda: TTLCache(_NOTED, _NOTED_SECONDS), init=False
    )

    def see(self, decisions: Iterable[Decision]) -> None:
        """Note versions that decisions name; what could not be noted is left to probes."""
        latest = {
            one.grader_id: one.answered_version
            for one in sorted(decisions, key=lambda one: one.decided_at)
            if not one.is_of_panel and one.answered_version != one.grader_version
        }
        for grader_id, version in latest.items():
            if grader_id in self._noted:
                continue
            self._noted[grader_id] = True
            try:
                self.answered.note(grader_id, version)
            except REFUSALS:
                logger.warning("version not noted", grader_id=grader_id, exc_info=True)
