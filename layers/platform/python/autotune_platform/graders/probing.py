"""Probing every verified grader, again and again."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, Protocol

from aws_lambda_powertools import Logger

from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.graders.health import Health, Probe
from autotune_platform.graders.service import GraderService
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part

logger = Logger()

GONE = "grader is down"
"""Of a line in the log, which an alarm counts: half an hour's probes failed."""
_CALL_SECONDS = 10
_PROBES_AT_ONCE = 16
# A call that takes its whole time, and writing down what it showed.
_SECONDS_FOR_ONE = 20

_Result = Literal["probed", "changed", "left"]


class ProbeReport(FrozenModel):
    """What one run did, in graders; those ``left`` had no time and come first in the next run."""

    probed: int = 0
    changed: int = 0
    left: int = 0


class Waiting(Protocol):
    """Who waits for graders that are down."""

    def seen(self, grader_id: str, /) -> None:
        """Note that a grader says it is well."""


@part
class GraderProbing:
    """Asks graders for their health and has their status follow.

    A probe is never repeated here: that a status changes only after several in a row is the retry.
    """

    graders: GraderService
    gateway: GraderGateway
    waiting: Waiting
    clock: Clock = SYSTEM_CLOCK

    def probe(self, shard: int, *, seconds_left: Callable[[], float]) -> ProbeReport:
        """Probe every grader of a shard that there is time for, the longest unprobed first."""
        waiting = sorted(self.graders.probed(shard), key=lambda health: health.updated_at)

        def probed(health: Health) -> _Result:
            if seconds_left() < _SECONDS_FOR_ONE:
                return "left"
            try:
                return self._probe(health)
            except (*REFUSALS, UnavailableError):
                # One that could not be read or noted must not end the probing of all others.
                logger.exception("grader not probed", grader_id=health.grader_id)
                return "left"

        with ThreadPoolExecutor(_PROBES_AT_ONCE) as pool:
            results = list(pool.map(probed, waiting))
        left = results.count("left")
        if left:
            logger.warning("graders left unprobed", shard=shard, left=left)
        return ProbeReport(probed=len(results) - left, changed=results.count("changed"), left=left)

    def _probe(self, health: Health) -> _Result:
        usable = self.graders.get_usable(health.grader_id)
        if usable is None:
            return "probed"  # deleted since the shard was read
        found = self.gateway.ask_health(usable, timeout_seconds=_CALL_SECONDS)
        probe = Probe(
            probed_at=self.clock.now(),
            outcome=found.outcome,
            latency_ms=found.latency_ms,
            reason_code=found.reason_code,
            version=found.answer.version if found.answer else None,
        )
        if found.outcome == "healthy":
            self.waiting.seen(health.grader_id)
        before = usable.grader
        after = self.graders.record_probe(before, health, probe)
        if after is None:
            logger.info("probe not counted: the grader changed", grader_id=before.id)
            return "probed"
        if after.version != before.version:
            logger.info("grader changed version", grader_id=before.id)
        if after.status == before.status:
            return "probed" if after.version == before.version else "changed"
        logger.warning(
            "grader changed status",
            grader_id=before.id,
            before=before.status,
            after=after.status,
            reason_code=probe.reason_code,
        )
        if after.status == "inactive":
            logger.warning(GONE, grader_id=before.id)
        return "changed"
