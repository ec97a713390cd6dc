"""Statistics and metering of graders, counted from verdicts and read by the graders' owners."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from datetime import UTC

from aws_lambda_powertools import Logger

from autotune.protocol.limits import MAX_STATISTICS_VERSIONS
from autotune.protocol.statistics import GraderStats, GraderUsage, VersionFigures
from autotune_platform.projections.counters import CounterRepository
from autotune_platform.projections.figures import STATES, counts_of, figure_fields, states_in
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.lanes import Lane
from autotune_platform.verdicts.decisions import Decision

logger = Logger()


class GraderStatistics:
    """Turns verdicts into additions to counters, and counters into figures."""

    def __init__(self, *, counters: CounterRepository, lane: Lane) -> None:
        self._counters = counters
        self._lane = lane

    def additions(self, verdicts: Sequence[Decision]) -> list[Addition]:
        """Return the additions that count verdicts and opinions, one for each of ``counters``.

        A panel's verdict is counted for no grader; the opinions of its members are counted for
        each of them. All additions go to the lane of this process.
        """
        counted = [verdict for verdict in verdicts if not verdict.is_of_panel]
        if not counted:
            return []
        lane = self._lane.number
        by_version: dict[tuple[str, str], list[Decision]] = defaultdict(list)
        by_organization: dict[tuple[str, str, str], list[Decision]] = defaultdict(list)
        for verdict in counted:
            by_version[_version_key(verdict)].append(verdict)
            by_organization[_metering_key(verdict)].append(verdict)
        statistics = [
            self._counters.add_statistics(grader_id, version, counts_of(some), lane=lane)
            for (grader_id, version), some in by_version.items()
        ]
        metering = [
            self._counters.add_metering(
                grader_id,
                month,
                organization_id,
                Counter(verdict.state for verdict in some),
                lane=lane,
            )
            for (grader_id, month, organization_id), some in by_organization.items()
        ]
        return [*statistics, *metering]

    def leave_lane(self) -> None:
        """Add to other items from now on, because others write the same."""
        self._lane.leave()

    def note_late_answers(self, grader_id: str, version: str, count: int) -> None:
        """Count answers that came too late; a failure to count them is logged and not raised."""
        try:
            self._counters.count_late_answers(grader_id, version, count)
        except REFUSALS:
            logger.exception("late answers not counted", grader_id=grader_id, count=count)

    def stats(self, grader_id: str, *, version: str | None = None) -> GraderStats:
        """Return a grader's figures, of one version or of all together and each."""
        by_version = self._counters.statistics_of(grader_id, version)
        total: Counter[str] = Counter()
        for counts in by_version.values():
            total.update(counts)
        listed = sorted(by_version.items(), key=lambda pair: (-_verdicts(pair[1]), pair[0]))
        return GraderStats(
            grader_id=grader_id,
            version=version,
            **figure_fields(total),
            versions=[
                VersionFigures(version=name, **figure_fields(counts))
                for name, counts in listed[:MAX_STATISTICS_VERSIONS]
            ],
        )

    def usage(self, grader_id: str, month: str) -> GraderUsage:
        """Return a grader's verdicts for all organisations in a month such as ``2026-11``."""
        counts = self._counters.metering_of(grader_id, month)
        return GraderUsage(
            grader_id=grader_id, month=month, counts=states_in(counts), total=_verdicts(counts)
        )


def counters(verdict: Decision) -> set[Hashable]:
    """Return the counters of a verdict; its transaction writes one item for each of them."""
    if verdict.is_of_panel:
        return set()
    return {_version_key(verdict), _metering_key(verdict)}


def _version_key(verdict: Decision) -> tuple[str, str]:
    return verdict.grader_id, verdict.answered_version


def _metering_key(verdict: Decision) -> tuple[str, str, str]:
    month = verdict.decided_at.astimezone(UTC).strftime("%Y-%m")
    return verdict.grader_id, month, verdict.organization_id


def _verdicts(counts: Counter[str]) -> int:
    return sum(counts[state] for state in STATES)
