"""Write the table of ``docs/ledger.md`` from what ``python -m benchmarks.llm_peers`` stored.

``python -m tools.ledger_peers`` writes the table. A test compares it, so that no cell is edited.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.llm_peers.cases import CASES, QUESTIONS, Case
from benchmarks.llm_peers.observing import RAISED, WAITING, Observed
from benchmarks.llm_peers.stored import OURS, read
from tools.written_tables import with_rows, write_or_check

PAGE = Path(__file__).parent.parent / "docs" / "ledger.md"
_ERROR_CHARACTERS = 60


def main() -> None:
    """Write the table, or with ``--check`` say whether it is stale."""
    write_or_check(PAGE, with_table(PAGE.read_text(), read()), tool="ledger_peers")


def with_table(page: str, stored: Mapping[str, Any]) -> str:
    """Return the page with a row for each case and a column for each client."""
    clients = {name: stored["clients"][name] for name in _ordered(stored["clients"])}
    headings = ["Trap", "What goes wrong", *(_heading(*one) for one in clients.items())]
    rows = [
        [str(case.section or ""), case.what, *(_cell(case, one) for one in clients.values())]
        for case in CASES
    ]
    return with_rows(page, tool="ledger_peers", headings=headings, rows=rows)


def described(observed: Observed) -> str:
    """Return a cell: ``correct`` if nothing is lost, repeated, confused or paid twice."""
    figures = [
        _ending(observed),
        _some(observed.reported, "reported as failed"),
        _some(observed.lost, "lost") if observed.ended not in (RAISED, WAITING) else "",
        _some(observed.foreign, "with another's answer"),
        _some(observed.contradicted, "with the contradicting copy, without a word"),
        _some(observed.repeated, "handed over twice"),
        _some(observed.strangers, "handed over that nobody asked"),
        _some(observed.paid_again, "**paid twice**"),
        _some(observed.paid_lost, "paid without an answer"),
    ]
    said = "; ".join(figure for figure in figures if figure)
    text = said or f"all {QUESTIONS} answered"
    prefix = "correct: " if is_correct(observed) else ""
    return f"{'' if observed.met else 'trap not met; '}{prefix}{text}"


def is_correct(observed: Observed) -> bool:
    """Whether each question has its answer or an error, and none is paid twice or for nothing."""
    return (
        observed.ended not in (RAISED, WAITING)
        and observed.answered + observed.reported == QUESTIONS
        and not any(
            (observed.repeated, observed.strangers, observed.paid_again, observed.paid_lost)
        )
    )


def _ending(observed: Observed) -> str:
    answers = f"{observed.answered} of {QUESTIONS} answered"
    if observed.ended == WAITING:
        return f"still waits two days later, {answers}"
    if observed.ended == RAISED:
        error = observed.error.replace("|", "/").replace("`", "'")
        if len(error) > _ERROR_CHARACTERS:
            error = f"{error[:_ERROR_CHARACTERS]}…"
        return f"ends with `{error}`, {answers}"
    return answers if observed.answered < QUESTIONS else ""


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count else ""


def _cell(case: Case, client: Mapping[str, Any]) -> str:
    if case.name not in client["cases"]:
        return "not run"
    return described(Observed(**client["cases"][case.name]))


def _heading(name: str, client: Mapping[str, Any]) -> str:
    return name if name == OURS else f"{name} {client['version']}"


def _ordered(clients: Iterable[str]) -> list[str]:
    """Other people's first, in the order of the alphabet."""
    return sorted(clients, key=lambda name: (name == OURS, name.lower()))


if __name__ == "__main__":
    main()
