"""``autotune llm costs``, ``estimate`` and ``budget``: what language models cost."""

from contextlib import ExitStack
from datetime import datetime
from decimal import Decimal
from typing import Annotated

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Columns, Invocation, note, require_one, stop
from autotune.cli.llm_rows import RowDefaults, RowFile, RowsFile
from autotune.client import APIError
from autotune.protocol.llm_batches import LlmBudgetUse, LlmCost, LlmCostGroup, LlmTraceField

_DAY = ["%Y-%m-%d"]

_COSTS: Columns[LlmCost] = {
    "DAY": lambda one: one.day,
    "GROUP": lambda one: one.group,
    "REQUESTS": lambda one: one.rows,
    "INPUT": lambda one: one.input_tokens,
    "CACHED": lambda one: one.cached_input_tokens,
    "CACHE WRITES": lambda one: one.cache_write_tokens,
    "OUTPUT": lambda one: one.output_tokens,
    "REASONING": lambda one: one.reasoning_tokens,
    "USD": lambda one: dollars(one.cost_nano_usd),
}
_PERIODS: Columns[LlmBudgetUse] = {
    "PERIOD": lambda one: one.period,
    "NAME": lambda one: one.name,
    "LIMIT USD": lambda one: dollars(one.limit_nano_usd),
    "SPENT USD": lambda one: dollars(one.spent_nano_usd),
    "RESERVED USD": lambda one: dollars(one.reserved_nano_usd),
}

Limit = Annotated[str | None, typer.Option(metavar="USD", help="Most US dollars, such as 12.50.")]


def dollars(nano_usd: int | None) -> str | None:
    """Return billionths of a US dollar in dollars, to the last digit."""
    if nano_usd is None:
        return None
    text = f"{Decimal(nano_usd).scaleb(-9):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def costs(
    invocation: Invocation,
    *,
    group_by: Annotated[LlmCostGroup, typer.Option(help="What costs are listed by.")] = "model",
    trace_field: Annotated[
        LlmTraceField | None, typer.Option(help="With --group-by trace: which id of the trace.")
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(formats=_DAY, help="The first day, in UTC; else the last 30 days."),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=_DAY, help="The last day, included; else today.")
    ] = None,
) -> None:
    """List what was spent by day and model, purpose, connection or id of the requests' traces.

    Days are those of UTC.
    """
    if (group_by == "trace") != (trace_field is not None):
        stop("--group-by trace and --trace-field go together")
    found = invocation.client.llm.costs(
        group_by=group_by,
        trace_field=trace_field,
        first=since.date() if since else None,
        last=until.date() if until else None,
    )
    invocation.show_all(found, _COSTS)
    note(f"{dollars(sum(one.cost_nano_usd for one in found))} US dollars in all")


def estimate(invocation: Invocation, *, file: RowsFile, defaults: RowDefaults) -> None:
    """Print what a file of requests costs at most; exit status 1 if the budget has no room for it.

    That is one attempt of each. What fails for a passing reason is tried up to five times, and
    may be paid each time. Nothing is stored, and no model is asked.
    """
    with ExitStack() as kept:
        rows = RowFile(file, defaults, kept=kept)
        rows.check()
        try:
            found = invocation.client.llm.estimate(rows.rows())
        except APIError as error:
            named = rows.naming_lines(error)
            if named is None:
                raise
            raise named from error
    invocation.show(found)
    note(
        f"at most {dollars(found.bound_nano_usd)} US dollars for one attempt of each, and "
        f"{dollars(found.worst_case_nano_usd)} if all are tried as often as they may be"
    )
    if not found.fits:
        note("the budget has no room for all of it now: what does not fit would wait")
    raise typer.Exit(exit_codes.OK if found.fits else exit_codes.INCOMPLETE)


def budget(
    invocation: Invocation,
    *,
    day: Limit = None,
    week: Limit = None,
    month: Limit = None,
    no_day: Annotated[bool, typer.Option("--no-day", help="Lift the limit of a day.")] = False,
    no_week: Annotated[bool, typer.Option("--no-week", help="Lift the limit of a week.")] = False,
    no_month: Annotated[
        bool, typer.Option("--no-month", help="Lift the limit of a month.")
    ] = False,
) -> None:
    """Show the budget for language models; with options, change these limits of it first.

    Days, weeks from Monday on and months are those of UTC.
    """
    client = invocation.client.llm
    require_one(day=day, no_day=no_day)
    require_one(week=week, no_week=no_week)
    require_one(month=month, no_month=no_month)
    found = client.budget()
    if any((day, week, month, no_day, no_week, no_month)):
        before = found.limits
        found = client.set_budget(
            day_usd=None if no_day else day or before.day_usd,
            week_usd=None if no_week else week or before.week_usd,
            month_usd=None if no_month else month or before.month_usd,
        )
    if invocation.as_json:
        invocation.show_json(found)
    else:
        invocation.show_all(found.periods, _PERIODS)
