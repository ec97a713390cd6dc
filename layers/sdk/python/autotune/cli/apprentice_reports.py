"""``autotune apprentice status``, ``report`` and ``estimate``: how tasks get on."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table

from autotune.cli.figures import figure, plain_table
from autotune.cli.invocation import Columns, Invocation, stdout_console, stop
from autotune.cli.llm_spending import dollars
from autotune.protocol.apprentice_estimates import ApprenticeEstimate
from autotune.protocol.apprentice_reports import (
    ApprenticeDay,
    ApprenticeFieldAgreement,
    ApprenticeGateFigures,
    ApprenticeNextTraining,
    ApprenticeReport,
    ApprenticeSavings,
    ApprenticeStatus,
)
from autotune.protocol.apprentice_spend import ApprenticeBudgetUse
from autotune.protocol.apprentice_standings import ApprenticeCoverage, ApprenticeVersionStanding
from autotune.protocol.limits import MAX_APPRENTICE_REPORT_DAYS

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the task.")]

_SHARE = ".1%"

_DAYS: Columns[ApprenticeDay] = {
    "DAY (UTC)": lambda one: one.day,
    "RUNS": lambda one: one.counts.begun,
    "LOCAL": lambda one: one.counts.local,
    "REMOTE": lambda one: one.counts.remote,
    "REFUSED": lambda one: one.counts.refused,
    "FAILED": lambda one: one.counts.failed,
    "SILENT": lambda one: one.counts.silent,
    "PAIRS": lambda one: sum(version.pairs for version in one.versions),
    "AGREEMENT": lambda one: "; ".join(
        f"{version.version}: {version.mean:.1%}" for version in one.versions
    ),
    "ANSWERS USD": lambda one: dollars(one.counts.cost_answers_nano_usd),
    "CHECKS USD": lambda one: dollars(one.counts.cost_checks_nano_usd),
    "LOST USD": lambda one: dollars(one.counts.cost_lost_nano_usd),
    "ADDITIONAL USD": lambda one: dollars(one.counts.cost_additional_nano_usd),
    "TRAINING USD": lambda one: dollars(one.counts.cost_training_nano_usd),
    "HOSTING USD": lambda one: _hosting(
        one.counts.cost_hosting_nano_usd, one.counts.hosting_unpriced_seconds
    ),
}


_FIELDS: Columns[ApprenticeFieldAgreement] = {
    "VERSION": lambda one: one.version,
    "FIELD": lambda one: one.name,
    "PAIRS": lambda one: one.pairs,
    "SAME": lambda one: f"{one.mean:.1%}",
}


_REPORTS: Columns[ApprenticeReport] = {
    "NAME": lambda one: one.status.name,
    "PHASE": lambda one: one.status.phase,
    "RUNS": lambda one: one.totals.begun,
    "LOCAL": lambda one: one.totals.local,
    "REMOTE": lambda one: one.totals.remote,
    "REFUSED": lambda one: one.totals.refused,
    "FAILED": lambda one: one.totals.failed,
    "SILENT": lambda one: one.totals.silent,
    "COST USD": lambda one: dollars(
        one.totals.cost_answers_nano_usd
        + one.totals.cost_checks_nano_usd
        + one.totals.cost_lost_nano_usd
    ),
    "SAVED USD": lambda one: dollars(one.savings.net_nano_usd),
    "ALERTS": lambda one: ", ".join(alert.kind for alert in one.status.alerts),
}


def status(
    invocation: Invocation,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of the task; else all tasks.")
    ] = None,
) -> None:
    """Show where a task stands: who answers, how far a version agrees, what was spent and saved.

    Without a name, each task has a line.
    """
    client = invocation.client
    if name is None:
        found = (client.apprentice.status(one.name) for one in client.apprentice_tasks.list())
        invocation.show_all(found, _STATUSES)
        return
    shown = client.apprentice.status(name)
    if invocation.as_json:
        invocation.show_json(shown)
        return
    _print_status(shown)


def report(
    invocation: Invocation,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of the task; else all tasks.")
    ] = None,
    *,
    days: Annotated[
        int,
        typer.Option(min=1, max=MAX_APPRENTICE_REPORT_DAYS, help="How many, today included."),
    ] = 30,
    send: Annotated[
        bool,
        typer.Option("--send", help="Have webhooks get it that ask for apprentice.report."),
    ] = False,
) -> None:
    """Show what became of a task by day, what that cost, and what it saved.

    Without a name, each task has a line. With --send it goes to webhooks instead, and the id of its
    event is printed.
    """
    if name is None:
        if send:
            stop("--send: expected the name of a task")
        client = invocation.client
        reports = (
            client.apprentice.report(one.name, days=days) for one in client.apprentice_tasks.list()
        )
        invocation.show_all(reports, _REPORTS)
        return
    if send:
        sent = invocation.client.apprentice.send_report(name, days=days)
        if invocation.as_json:
            invocation.show_json(sent)
        else:
            typer.echo(sent.event_id)
        return
    found = invocation.client.apprentice.report(name, days=days)
    if invocation.as_json:
        invocation.show_json(found)
        return
    _print_status(found.status)
    stdout_console().print(f"\n{found.first_day} to {found.last_day}")
    invocation.show_all([*found.days], _DAYS)
    if found.fields:
        invocation.show_all([*found.fields], _FIELDS)
    stdout_console().print(_totals(found))
    if found.gate is not None:
        stdout_console().print(_gate(found.gate))


def estimate(invocation: Invocation, name: Name) -> None:
    """Print how many pairs, how much money and how many days it takes until a version graduates.

    That is if it goes on to agree as it did, and runs come as they do.
    """
    found = invocation.client.apprentice.estimate(name)
    if invocation.as_json:
        invocation.show_json(found)
        return
    console = stdout_console()
    console.print(found.message)
    console.print(_prospects(found))


def _present(status: ApprenticeStatus) -> ApprenticeVersionStanding | None:
    """Return the version that answers, or else the one that is to."""
    number = status.serving if status.serving is not None else status.candidate
    return next((one for one in status.versions if one.number == number), None)


def _mean(status: ApprenticeStatus) -> str:
    version = _present(status)
    return figure(None if version is None else version.agreement.mean, _SHARE)


def _bound(status: ApprenticeStatus) -> str:
    version = _present(status)
    return figure(None if version is None else version.agreement.bound, _SHARE)


def _tightest(status: ApprenticeStatus) -> str:
    """Return how much of the budget is used that is used most."""
    used = [
        (use.spent_nano_usd + use.reserved_nano_usd) / use.limit_nano_usd
        for use in status.spend.periods
        if use.limit_nano_usd
    ]
    return figure(max(used, default=None), _SHARE)


_STATUSES: Columns[ApprenticeStatus] = {
    "NAME": lambda one: one.name,
    "PHASE": lambda one: one.phase,
    "SERVES": lambda one: one.serving,
    "CANDIDATE": lambda one: one.candidate,
    "AGREES": _mean,
    "AT LEAST": _bound,
    "BUDGET USED": _tightest,
    "SAVED USD": lambda one: dollars(one.savings.net_nano_usd),
    "ALERTS": lambda one: ", ".join(alert.kind for alert in one.alerts),
}


def _next_training(shown: ApprenticeNextTraining) -> str:
    running = "" if shown.running is None else f", after training {shown.running}, which is running"
    why = ", as a version raised an emergency" if shown.cause == "emergency" else ""
    waits = "" if shown.waits is None else f"; it waits: {shown.waits.message}"
    return f"at {shown.examples_needed} examples{why}{running}{waits}"


def _print_status(status: ApprenticeStatus) -> None:
    console = stdout_console()
    table = plain_table()
    table.add_column()
    table.add_row("task", f"{status.name}, version {status.version}: {status.description}")
    table.add_row("phase", str(status.phase))
    table.add_row("examples", f"{status.examples} of {status.examples_needed}")
    if status.next_training is not None:
        table.add_row("next training", _next_training(status.next_training))
    for version in status.versions:
        table.add_row(f"version {version.number}", _version(version))
    for use in status.spend.periods:
        table.add_row(use.name, _use(use))
    if status.training_spend is not None:
        table.add_row(f"training, {status.training_spend.name}", _use(status.training_spend))
    table.add_row(f"saved, {status.savings_days} days", _saved(status.savings))
    console.print(table)
    for alert in status.alerts:
        console.print(f"{alert.kind}: {alert.message}")


def _version(one: ApprenticeVersionStanding) -> str:
    agreement = one.agreement
    said = "no pairs"
    if agreement.pairs:
        said = (
            f"agrees {figure(agreement.mean, _SHARE)} of {agreement.pairs} pairs, at least "
            f"{agreement.bound:.1%} ({agreement.confidence:.4g} sure); evidence "
            f"{agreement.evidence:.3g} of {agreement.evidence_needed:g}"
        )
    reason = one.sampling.reason.replace("_", " ")
    line = f"{_stage(one)}; {said}; {one.sampling.rate:.1%} checked ({reason})"
    return line if one.coverage is None else f"{line}; {_sure(one.coverage)}"


def _sure(one: ApprenticeCoverage) -> str:
    """Return how many inputs a version behind a gate is sure of."""
    said = (
        f"sure of {figure(one.share, _SHARE)} of {one.inputs} inputs, promised {one.promised:.1%}, "
        f"an alarm below {one.least:.1%}"
    )
    return said if one.checked_until is None else f"{said}, which is on"


def _gate(one: ApprenticeGateFigures) -> str:
    return (
        f"gate: sure of {figure(one.coverage, _SHARE)} of inputs, {figure(one.escalated, _SHARE)} "
        f"of answers escalated; {figure(one.agreement, _SHARE)} of checked local answers agree"
    )


def _stage(one: ApprenticeVersionStanding) -> str:
    canary = one.canary
    if canary is None:
        return one.stage
    said = f"{one.stage}, {canary.share:.4g} of inputs"
    if not canary.is_automatic:
        return f"{said} until promoted"
    step = f"step {canary.step} of {canary.steps}"
    return f"{said}, {step}, {canary.pairs} of {canary.pairs_needed} pairs"


def _use(use: ApprenticeBudgetUse) -> str:
    limit = "no limit" if use.limit_nano_usd is None else f"of {dollars(use.limit_nano_usd)} USD"
    spent, reserved = dollars(use.spent_nano_usd), dollars(use.reserved_nano_usd)
    return f"{spent} spent, {reserved} reserved, {limit}"


def _hosting(nano_usd: int | None, unpriced_seconds: int) -> str | None:
    """Return what hosting cost, or that it is not known."""
    return "unknown" if unpriced_seconds else dollars(nano_usd)


def _saved(saved: ApprenticeSavings) -> str:
    if saved.hosting_nano_usd is None:
        hours = saved.hosting_unpriced_seconds / 3_600
        return f"not known: {hours:.1f} hours were hosted on an instance whose price is not known"
    if saved.net_nano_usd is None:
        return "not known: the paid model has given no answer under this definition"
    parts = {
        "checks": saved.checks_nano_usd,
        "additional models": saved.additional_nano_usd,
        "training": saved.training_nano_usd,
        "hosting": saved.hosting_nano_usd,
    }
    less = ", ".join(
        f"{dollars(cost)} for {what}"
        for what, cost in parts.items()
        if cost or what != "additional models"
    )
    said = (
        f"{dollars(saved.net_nano_usd)} USD: {saved.local_answers} local answers, "
        f"which would have cost {dollars(saved.avoided_nano_usd)}, less {less}"
    )
    if saved.low_nano_usd is None:
        return f"{said}; too few paid answers for an interval"
    return f"{said}; 95 % from {dollars(saved.low_nano_usd)} to {dollars(saved.high_nano_usd)}"


def _totals(found: ApprenticeReport) -> Table:
    table = plain_table()
    table.add_column(justify="right")
    for label, value in found.totals:
        is_money = label.endswith("_nano_usd")
        name = label.removesuffix("_nano_usd").replace("_", " ")
        table.add_row(
            f"{name}, USD" if is_money else name, (dollars(value) or "") if is_money else str(value)
        )
    table.add_row("saved, USD", dollars(found.savings.net_nano_usd) or "-")
    return table


def _prospects(found: ApprenticeEstimate) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for head in ("1 IN 10 BELOW", "MEDIAN", "1 IN 10 ABOVE"):
        table.add_column(head, justify="right")
    for label, values in _ranges(found):
        table.add_row(label, *("-" if value is None else str(value) for value in values))
    return table


def _ranges(found: ApprenticeEstimate) -> Iterator[tuple[str, list[object]]]:
    pairs, cost, dates = found.pairs, found.cost_nano_usd, found.dates
    yield "pairs", [pairs.low, pairs.median, pairs.high]
    yield "US dollars", [dollars(one) for one in (cost.low, cost.median, cost.high)]
    yield "day", [dates.low, dates.median, dates.high]
