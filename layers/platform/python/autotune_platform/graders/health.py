"""A grader's health as pure state: nothing here reads a clock or a table.

A status changes only after several probes in a row agree (hysteresis), so that a grader which fails
one probe, or every other one, keeps the status that it has.
"""

import hashlib
from datetime import datetime
from typing import Self

from autotune.protocol.graders import GraderStatus, HealthReason, ProbeOutcome
from autotune_platform.runtime.frozen_model import FrozenModel

PROBES_TO_CHANGE = 2
"""How many probes in a row make a grader ``active`` again, or ``degraded``."""

PROBES_TO_GIVE_UP = 6
"""How many probes in a row have to fail for ``inactive``; half an hour's."""

WITNESSES_TO_CHANGE_VERSION = 2
"""How many probes in a row, or one and an answer, have to name another version.

While a new version is rolled out, both answer.
"""


class Probe(FrozenModel):
    """What one probe found.

    ``reason_code`` is why it was not ``healthy``, ``version`` the one that an answer named.
    """

    probed_at: datetime
    outcome: ProbeOutcome
    latency_ms: int
    reason_code: HealthReason | None = None
    version: str | None = None


class Health(FrozenModel):
    """What the probes of a verified grader found so far.

    Attributes:
        updated_at: when it was verified, or probed last; never the same twice.
        healthy: how many of the latest probes in a row were healthy.
        unwell: how many in a row were not.
        failed: how many in a row failed.
        answered: how many in a row did not.
        named: how many of those that were answered named the same version, the latest in a row.
        scored_as: digest of a version that an answer to a question named, and that was not the
            registered one. It is no more than a digest, because an answer may hold what it was
            asked.
    """

    grader_id: str
    updated_at: datetime
    healthy: int = 0
    unwell: int = 0
    failed: int = 0
    answered: int = 0
    named: int = 0
    scored_as: str | None = None
    last_probe: Probe | None = None
    last_version: str | None = None

    def after(self, probe: Probe) -> Self:
        """Return the health after one more probe."""
        healthy, failed = probe.outcome == "healthy", probe.outcome == "failed"
        version, named = self.last_version, self.named
        if probe.version is not None:
            version, named = probe.version, named + 1 if probe.version == version else 1
        return self.model_copy(
            update={
                "updated_at": probe.probed_at,
                "healthy": self.healthy + 1 if healthy else 0,
                "unwell": 0 if healthy else self.unwell + 1,
                "failed": self.failed + 1 if failed else 0,
                "answered": 0 if failed else self.answered + 1,
                "named": named,
                "last_version": version,
                "last_probe": probe,
            }
        )

    def status(self, before: GraderStatus) -> GraderStatus:
        """Return the status that follows from the probes for a grader that had another before."""
        if self.healthy >= PROBES_TO_CHANGE:
            return "active"
        if self.failed >= PROBES_TO_GIVE_UP:
            return "inactive"
        if before == "active" and self.unwell >= PROBES_TO_CHANGE:
            return "degraded"
        if before == "inactive" and self.answered >= PROBES_TO_CHANGE:
            return "degraded"
        return before

    def version(self, before: str | None) -> str | None:
        """Return the version that follows for a grader that was registered with another before."""
        latest = self.last_version
        if latest is None or latest == before:
            return before
        witnesses = self.named + (self.scored_as == digest_of(latest))
        return latest if witnesses >= WITNESSES_TO_CHANGE_VERSION else before


def digest_of(version: str) -> str:
    """Return what a version is compared by where it is not to be kept."""
    return hashlib.sha256(version.encode()).hexdigest()[:32]
