"""Whether functions were denied anything, and used what only one suite makes them use."""

from pathlib import Path

from rich.console import Console

from tests.chaos.invariants import Finding
from tests.infra.reviewed_permissions import compared_permissions


def permissions_finding(directory: Path, *, suite: str, console: Console) -> Finding:
    """Compare what the functions of a stack may do with what they did."""
    compared = compared_permissions(directory)
    console.print(compared.summary(), highlight=False)
    return Finding(
        "no function is denied anything",
        len(compared.decisions),
        [*compared.denied(), *compared.missed_by(suite)],
    )
