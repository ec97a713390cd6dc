"""Write the table of what is kept where into the operators' guide, or check that it is current.

``python -m tools.data_holders`` writes it, ``python -m tools.data_holders --check`` fails where it
is stale.
"""

import importlib
import pkgutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import autotune_platform
from autotune_platform.storage.data_holders import DataHolder, Holding

GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "operators.md"

_BEGIN = "<!-- written by tools/data_holders.py -->\n\n"
_END = "\n<!-- end -->"
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
    before, _, rest = guide.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    lines: list[Sequence[str]] = [_HEADINGS, ["---"] * len(_HEADINGS)]
    for domain, holder in holders().items():
        lines += [[f"`{domain}`", *_cells(holding)] for holding in holder.holds]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{before}{_BEGIN}{table}{_END}{after}"


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
    guide = GUIDE.read_text()
    current = with_table(guide)
    if "--check" not in sys.argv[1:]:
        GUIDE.write_text(current)
    elif guide != current:
        sys.exit("docs/guides/operators.md is stale: run python -m tools.data_holders")


if __name__ == "__main__":
    main()
