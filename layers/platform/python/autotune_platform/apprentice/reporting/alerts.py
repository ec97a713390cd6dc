"""What an operator should know now of a task: from what is counted and folded, and nothing else."""

from collections.abc import Iterable, Iterator

from autotune.protocol import apprentice_reports as wire
from autotune_platform.apprentice.folding.models import Asked, DayCounts
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.phases import Stage, kept
from autotune_platform.apprentice.reporting.known import KnownTask, VersionFigures
from autotune_platform.budgets.scopes import PeriodUse
from autotune_platform.budgets.task_money import TaskSpend

WARN_FROM = 0.8
"""Which share of a budget is worth a word."""
ASKED_FROM = 20
"""Of fewer runs it says little that a version had no answer."""


def alerts(
    task: KnownTask,
    spend: TaskSpend,
    today: DayCounts,
    *,
    lately: Asked,
    training: PeriodUse | None,
    unpriced_seconds: int,
    hostings: Iterable[Hosting] = (),
) -> list[wire.ApprenticeAlert]:
    """Return alerts, the gravest first.

    Args:
        lately: how often versions were asked within an hour or two.
        training: what the month's trainings have used; None where none is ever paid for.
        unpriced_seconds: how long instances hosted it whose price is not known.
        hostings: what SageMaker has, or had, of its versions.
    """
    return [
        *_of_versions(task),
        *_of_silence(today, lately),
        *_of_hosts(task, hostings),
        *_of_coverage(task),
        *_of_halt(spend),
        *(_of_budget(use, "budget") for use in spend.uses if _is_near(use)),
        *([_of_budget(training, "training budget")] if training and _is_near(training) else []),
        *_of_prices(unpriced_seconds),
        *_of_runs(today),
        *_of_windows(task),
        *_of_graduation(task),
    ]


def _of_versions(task: KnownTask) -> Iterator[wire.ApprenticeAlert]:
    for number, one in task.versions.items():
        evidence = one.evidence
        if evidence.emergency_at is not None:
            said = f"agreement fell below {one.rules.emergency} at pair {evidence.emergency_at}"
            yield _alert("emergency", number, f"version {number} is out for good: {said}")
        elif _was_demoted(one):
            said = f"agreement fell below {one.rules.coaching} at pair {evidence.alarmed_at}"
            yield _alert("alarm", number, f"version {number} has to graduate again: {said}")


def _of_silence(today: DayCounts, lately: Asked) -> Iterator[wire.ApprenticeAlert]:
    """Yield that whoever is asked has no answer: all is paid for again, and seems to be in order.

    Where hours have too few runs to tell, the day's count.
    """
    few = lately.asked < ASKED_FROM
    seen, when = (Asked(today.asked, today.silent), "today's") if few else (lately, "the last")
    if seen.asked >= ASKED_FROM and seen.is_silent:
        said = f"in {seen.silent} of {when} {seen.asked} runs that asked a version it had no answer"
        yield _alert("silent", None, f"{said}, and the paid model answered")


def _of_hosts(task: KnownTask, hostings: Iterable[Hosting]) -> Iterator[wire.ApprenticeAlert]:
    """Yield which versions are asked though what hosted them is gone, and since when."""
    known = {one.name: one for one in hostings}
    asked = kept(task.derived, (one.known.version for one in task.versions.values()))
    for number, one in task.versions.items():
        host = known.get(one.known.known.model)
        if host is None or number not in asked:
            continue
        base = known.get(host.base or "")
        if host.error and host.state in {"deleting", "gone"}:
            said = f"is gone since {host.since:%Y-%m-%d %H:%M} UTC ({host.error})"
            then = "it answers nobody until it is made again, which a later call begins"
        elif host.state == "creating" and base is not None and base.lacking is not None:
            lacks = ", ".join(f"{name}: {lack}" for name, lack in base.lacking.lacks.items())
            said = f"has no instance since {base.lacking.since:%Y-%m-%d %H:%M} UTC ({lacks})"
            then = "it answers nobody until one is to be had, which is tried again and again"
        else:
            continue
        yield _alert("unhosted", number, f"version {number}'s host {said}: {then}")


def _of_coverage(task: KnownTask) -> Iterator[wire.ApprenticeAlert]:
    """Yield that callers ask other things than they did: of versions that answer any of them."""
    for number, one in task.versions.items():
        seen, gate = one.known.coverage, one.known.known.gate
        if seen is None or gate is None or not seen.alarms:
            continue
        if one.stage not in (Stage.CANARY, Stage.SERVES):
            continue
        was = f"version {number} is sure of fewer inputs than the {gate.coverage:.0%} it was to be"
        if seen.settles_at is None:
            said = "what it answers was seen to agree since; a new training may know them"
        else:
            pairs = max(1, seen.settles_at - one.evidence.pairs)
            said = f"all that it answers is checked for {pairs} more pairs"
        share = "" if seen.share is None else f", now {seen.share:.0%}"
        yield _alert("coverage", number, f"{was}{share}: {said}")


def _was_demoted(one: VersionFigures) -> bool:
    """Whether it lost its place to an alarm, or is in shadow after one."""
    return one.evidence.alarms > 0 and one.stage is Stage.SHADOW


def _of_halt(spend: TaskSpend) -> Iterator[wire.ApprenticeAlert]:
    if spend.halted == "above_bound":
        why = "a call cost more than it can have: set budgets anew to have them go on"
        yield _alert("halted", None, f"no more paid calls are made, as {why}")


def _is_near(use: PeriodUse) -> bool:
    return use.limit is not None and use.spent + use.reserved >= WARN_FROM * use.limit


def _of_budget(use: PeriodUse, what: str) -> wire.ApprenticeAlert:
    assert use.limit is not None
    share = 100 * (use.spent + use.reserved) / use.limit if use.limit else 100.0
    return _alert(
        "budget", None, f"{share:.0f} % of the {use.period}'s {what} is used, of {use.name}"
    )


def _of_prices(unpriced_seconds: int) -> Iterator[wire.ApprenticeAlert]:
    if unpriced_seconds:
        said = "were hosted on an instance whose price is not known, so savings are not either"
        yield _alert("unpriced", None, f"{unpriced_seconds / 3_600:.1f} hours {said}")


def _of_runs(today: DayCounts) -> Iterator[wire.ApprenticeAlert]:
    if today.refused:
        said = f"{today.refused} of today's runs were refused, as the budget had no room for them"
        yield _alert("refused", None, said)
    if today.failed:
        said = f"{today.failed} of today's runs failed: whoever was asked did not answer"
        yield _alert("failed", None, said)
    if today.unmonitored:
        said = "answered by the small model alone, as the budget had no room to ask the paid one"
        runs = _of_today(today.unmonitored, "run")
        yield _alert("unmonitored", None, f"{runs} {said}")
    unchecked = today.checks_skipped + today.checks_failed
    if unchecked:
        why = f"{today.checks_skipped} for want of budget, {today.checks_failed} unanswered"
        yield _alert("unchecked", None, f"{_of_today(unchecked, 'check')} not done: {why}")


def _of_today(count: int, what: str) -> str:
    return f"{count} of today's {what}s {'was' if count == 1 else 'were'}"


def _of_windows(task: KnownTask) -> Iterator[wire.ApprenticeAlert]:
    for number, one in task.versions.items():
        if not one.known.is_refolded:
            said = "and say nothing until then"
            yield _alert("refolding", number, f"version {number}'s pairs are folded anew, {said}")
        if one.stage is Stage.OUT:
            continue
        if number == task.derived.serving and one.window.is_stale:
            said = "fewer than 20 of its pairs are young enough, and all its answers are checked"
            yield _alert("stale", number, f"version {number} is stale: {said}")
        if one.window.has_shift:
            yield _alert("shift", number, f"version {number} agrees less, all of a sudden")
        elif one.window.has_drift:
            yield _alert("drift", number, f"version {number} agrees less and less")


def _of_graduation(task: KnownTask) -> Iterator[wire.ApprenticeAlert]:
    number = task.derived.canary
    if number is None:
        return
    share = task.canaries.of(task.versions[number].evidence.canary)
    until = "it passed its canary" if task.canaries.is_automatic else "somebody promotes it"
    said = f"it answers {share:.0%} of inputs until {until}"
    yield _alert("graduated", number, f"version {number} has graduated: {said}")


def _alert(
    kind: wire.ApprenticeAlertKind, version: int | None, message: str
) -> wire.ApprenticeAlert:
    return wire.ApprenticeAlert(kind=kind, version=version, message=message)
