"""Tables in the documentation that a tool writes, and that tests compare with the code."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

_END = "\n<!-- end -->"


def with_rows(
    page: str, *, tool: str, headings: Sequence[str], rows: Iterable[Sequence[str]]
) -> str:
    """Return a page with a tool's table as it has to be, between the marks that name the tool."""
    begin = f"<!-- written by tools/{tool}.py -->\n\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(_END)
    lines = [headings, ["---"] * len(headings), *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{before}{begin}{table}{_END}{after}"


def write_or_check(page: Path, current: str, *, tool: str) -> None:
    """Write a page, or with ``--check`` end with a message where it is stale."""
    if "--check" not in sys.argv[1:]:
        page.write_text(current)
    elif page.read_text() != current:
        sys.exit(f"{page} is stale: run python -m tools.{tool}")
