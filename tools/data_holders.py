"""Write the table of what is kept where into the operators' guide, or check that it is current.

``python -m tools.data_holders`` writes it, ``python -m tools.data_holders --check`` fails where it
is stale.
"""

import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import autotune_platform
from autotune_platform.storage.data_holders import DataHolder, Holding
from tools.written_tables import with_rows, write_or_check

GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "operators.md"

_HEADINGS = ("Domain", "Where", "Key", "What", "About", "How long", "Erased on request")
_ABOUT = {
    "completion": "completions",
    "organization": "an organisation",
    "installation": "the installation",
}


def holders() -> dict[str, DataHolder]:
    """Return what each domain that is a data holder keeps, by the domain's name."""
    found: dict[str, DataHolder] = {}
    for domain in domains():
        name = f"autotune_platform.{domain}.holdings"
        if find_spec(name) is not None:
            found[domain] = importlib.import_module(name).HOLDER
    return found


def domains() -> list[str]:
    """Return the names of all domains of the platform."""
    return sorted(each.name for each in pkgutil.iter_modules(autotune_platform.__path__))


def with_table(guide: str) -> str:
    """Return the guide with the table as it has to be."""
    rows = [
        [f"`{domain}`", *_cells(holding)]
        for domain, holder in holders().items()
        for holding in holder.holds
    ]
    return with_rows(guide, tool="data_holders", headings=_HEADINGS, rows=rows)


def _cells(holding: Holding) -> list[str]:
    return [
        holding.place,
        f"`{holding.key}`",
        f"**{holding.what}**" if holding.has_text else holding.what,
        _ABOUT[holding.of],
        _how_long(holding),
        holding.erased or f"no: {holding.retained}",
    ]


def _how_long(holding: Holding) -> str:
    if holding.kept:
        return holding.kept
    if holding.days is not None:
        return "1 day" if holding.days == 1 else f"{holding.days} days"
    return "until erased" if holding.erased else "for good"


def main() -> None:
    """Write the table, or check it where ``--check`` is given."""
    write_or_check(GUIDE, with_table(GUIDE.read_text()), tool="data_holders")


if __name__ == "__main__":
    main()
