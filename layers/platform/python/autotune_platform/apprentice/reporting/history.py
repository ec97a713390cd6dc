"""What became of a task's runs by day, in all, and what that saved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from autotune.protocol import apprentice_reports as wire
from autotune_platform.apprentice.folding.models import Asked, DayCounts, VersionDay
from autotune_platform.apprentice.folding.tallies import AGREEMENT_UNITS
from autotune_platform.apprentice.hosting.repository import HostingDay
from autotune_platform.apprentice.sampling import wilson_bound
from autotune_platform.apprentice.savings import Costs, savings

_NO_COUNTS = ("day", "versions", "hours")


def day_on_wire(counts: DayCounts, *, alpha: float) -> wire.ApprenticeDay:
    """Return what became of the runs of a day."""
    return wire.ApprenticeDay(
        day=date.fromisoformat(counts.day),
        counts=counts_on_wire(counts),
        versions=[
            _version_day(number, one, alpha)
            for number, one in sorted(counts.versions.items())
            if one.pairs
        ],
    )


def counts_on_wire(counts: DayCounts) -> wire.ApprenticeCounts:
    """Return counts of runs, and what they cost."""
    return wire.ApprenticeCounts(
        begun=counts.begun,
        local=counts.local,
        remote=counts.remote,
        refused=counts.refused,
        failed=counts.failed,
        pending=counts.pending,
        escalated=counts.escalated,
        asked=counts.asked,
        silent=counts.silent,
        gate_sure=counts.gate_sure,
        gate_unsure=counts.gate_unsure,
        unmonitored=counts.unmonitored,
        examples=counts.examples,
        checks_done=counts.checks_done,
        checks_skipped=counts.checks_skipped,
        checks_failed=counts.checks_failed,
        cost_answers_nano_usd=counts.cost_answers,
        cost_checks_nano_usd=counts.cost_checks,
        cost_lost_nano_usd=counts.cost_lost,
        cost_additional_nano_usd=counts.cost_additional,
        cost_training_nano_usd=counts.cost_training,
        cost_hosting_nano_usd=counts.cost_hosting,
        hosting_seconds=counts.hosting_seconds,
        hosting_unpriced_seconds=counts.hosting_unpriced_seconds,
    )


def with_hosting(days: Sequence[DayCounts], costs: Mapping[str, HostingDay]) -> list[DayCounts]:
    """Return days with what hosting cost on them, those too that had nothing else."""
    known = {one.day: one for one in days}
    for day, cost in costs.items():
        known[day] = replace(
            known.get(day, DayCounts(day=day)),
            hosting_seconds=cost.seconds,
            hosting_unpriced_seconds=cost.unpriced_seconds,
            cost_hosting=cost.nano_usd,
        )
    return [known[day] for day in sorted(known)]


def lately(days: Iterable[DayCounts], now: datetime) -> Asked:
    """Return how often versions were asked in this hour and the one before, and gave no answer."""
    by_day = {one.day: one.hours for one in days}
    found = Asked()
    for at in (now.astimezone(UTC), now.astimezone(UTC) - timedelta(hours=1)):
        more = by_day.get(at.date().isoformat(), {}).get(at.hour, Asked())
        found = Asked(found.asked + more.asked, found.silent + more.silent)
    return found


def total(days: Iterable[DayCounts]) -> DayCounts:
    """Return the sum of some days, without their versions."""
    names = [one.name for one in fields(DayCounts) if one.name not in _NO_COUNTS]
    sums: dict[str, Any] = dict.fromkeys(names, 0)
    for counts in days:
        for name in names:
            sums[name] += getattr(counts, name)
    return DayCounts(day="", **sums)


def fields_on_wire(
    days: Sequence[DayCounts], versions: Iterable[int], names: Sequence[str]
) -> list[wire.ApprenticeFieldAgreement]:
    """Return how often each field was the same, the least agreed first.

    Args:
        versions: those under the present definition.
        names: of the fields that are compared.
    """
    found = []
    for number in versions:
        own = [one.versions[number] for one in days if number in one.versions]
        pairs = sum(one.pairs for one in own)
        for place, name in enumerate(names if pairs else ()):
            missed = sum(one.missed.get(place, 0) for one in own)
            found.append(
                wire.ApprenticeFieldAgreement(
                    version=number, name=name, pairs=pairs, mean=1 - missed / pairs
                )
            )
    return sorted(found, key=lambda one: (-one.version, one.mean))


def gate_on_wire(days: Sequence[DayCounts]) -> wire.ApprenticeGateFigures:
    """Return what a gate did in some days."""
    counts = total(days)
    versions = [one for day in days for one in day.versions.values()]
    agreement = sum(one.agreement for one in versions) / AGREEMENT_UNITS
    return wire.ApprenticeGateFigures(
        escalated=_share(counts.escalated, counts.local + counts.remote),
        coverage=_share(counts.gate_sure, counts.gate_sure + counts.gate_unsure),
        agreement=_share(agreement, sum(one.pairs for one in versions)),
    )


def _share(part: float, of: int) -> float | None:
    return part / of if of else None


def savings_on_wire(days: Sequence[DayCounts], paid: Costs) -> wire.ApprenticeSavings:
    """Return what some days saved.

    Args:
        paid: answers of the paid model under the present definition, whenever they were given.
    """
    counts = total(days)
    hosting = None if counts.hosting_unpriced_seconds else counts.cost_hosting
    saved = savings(
        counts.local,
        paid=paid,
        checks=counts.cost_checks,
        additional=counts.cost_additional,
        training=counts.cost_training,
        hosting=hosting,
    )
    return wire.ApprenticeSavings(
        local_answers=saved.local_answers,
        paid_answers=paid.count,
        mean_cost_nano_usd=None if paid.mean is None else round(paid.mean),
        avoided_nano_usd=saved.avoided,
        checks_nano_usd=saved.checks,
        additional_nano_usd=saved.additional,
        training_nano_usd=saved.training,
        hosting_nano_usd=saved.hosting,
        hosting_seconds=counts.hosting_seconds,
        hosting_unpriced_seconds=counts.hosting_unpriced_seconds,
        net_nano_usd=saved.net,
        low_nano_usd=saved.low,
        high_nano_usd=saved.high,
    )


def _version_day(number: int, one: VersionDay, alpha: float) -> wire.ApprenticeVersionDay:
    mean = one.agreement / AGREEMENT_UNITS / one.pairs
    return wire.ApprenticeVersionDay(
        version=number,
        pairs=one.pairs,
        mean=mean,
        wilson_bound=wilson_bound(min(mean, 1.0), one.pairs, alpha),
        bound=None if one.bound is None else one.bound / AGREEMENT_UNITS,
    )
