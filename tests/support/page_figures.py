"""Figures as the pages of the console show them, and as what the API answers says them.

What a page shows is read from its parts: figures with a label, facts, tables and the labels of
pictures. What it has to show is made here of the API's fields, apart from ``console/format.js``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from playwright.sync_api import Page

NOTHING = "\u2013"
STATES = ("scored", "abstained", "failed", "canceled", "pending")
# Texts of hidden parts are not shown; a picture's label is its name and then its figures.
_READ = r"""() => {
  const said = (it) => it.textContent.replace(/\s+/g, " ").trim();
  const pair = (it) => [said(it.querySelector("dt")), said(it.querySelector("dd"))];
  const told = (it) => [...it.ariaLabel.split(/: (.*)/s, 2), ""].slice(0, 2);
  const isShown = (it) => !it.closest("[hidden]");
  const all = (within, what) => [...within.querySelectorAll(what)].filter(isShown);
  const main = document.querySelector("main");
  return {
    stats: all(main, ".stat").map(pair),
    facts: all(main, ".facts > div").map(pair),
    images: all(main, "[role=img][aria-label]").map(told),
    tables: all(main, ".table-box[aria-label]").map((box) => [
      box.ariaLabel,
      all(box, "thead th").map(said),
      all(box, "tbody tr").map((row) => all(row, "th, td").map(said)),
    ]),
  };
}"""

Show = Callable[[Any], str]
Field = str | Callable[[Any], Any]


@dataclass(frozen=True)
class Shown:
    """What a page shows: texts by label, and rows of tables with texts by the column's head.

    Where a label is there more than once, its texts are in the order of the page.
    """

    stats: dict[str, list[str]]
    facts: dict[str, list[str]]
    images: dict[str, list[str]]
    tables: dict[str, list[dict[str, str]]]

    @classmethod
    def on(cls, page: Page) -> "Shown":
        """Read a page as it is now."""
        found = page.evaluate(_READ)
        return cls(
            stats=_by_label(found["stats"]),
            facts=_by_label(found["facts"]),
            images=_by_label(found["images"]),
            tables={
                label: [dict(zip(heads, row, strict=True)) for row in rows]
                for label, heads, rows in found["tables"]
            },
        )


@dataclass(frozen=True)
class Figure:
    """One figure: a field of an answer, by its dotted path or as a function, and how it is said."""

    show: Show
    field: Field

    def of(self, answer: Any) -> str:
        """Return what is to be read where an answer is this."""
        value = value_of(answer, self.field)
        return NOTHING if value is None else self.show(value)


@dataclass(frozen=True)
class Rows:
    """Rows of a table: which list of an answer they are, and figures by the column's head."""

    of: Field
    columns: Mapping[str, Figure]


@dataclass(frozen=True)
class Part:
    """Part of a page: what it asks the API for, and what of that stands where, by label."""

    asks: str
    stats: Mapping[str, Figure] = field(default_factory=dict)
    facts: Mapping[str, Figure] = field(default_factory=dict)
    images: Mapping[str, Figure] = field(default_factory=dict)
    tables: Mapping[str, Rows] = field(default_factory=dict)

    def about(self, ids: Mapping[str, str]) -> "Part":
        """Return it of certain things: names in braces are replaced."""
        images = {label.format(**ids): figure for label, figure in self.images.items()}
        return replace(self, asks=self.asks.format(**ids), images=images)

    def expected(self, answer: Any) -> Iterator[tuple[str, str, str]]:
        """Yield kind, label and text of each figure that is not in a table."""
        for kind in ("stats", "facts", "images"):
            for label, figure in getattr(self, kind).items():
                yield kind, label, figure.of(answer)


def differences(shown: Shown, part: Part, answer: Any) -> list[str]:
    """Return where a page shows something else than an answer says; a label too few is one, too."""
    found = []
    for kind, label, text in part.expected(answer):
        there = getattr(shown, kind).get(label)
        if there != [text]:
            found.append(f"{label}: {text!r} by {part.asks}, and on the page {there}")
    for label, rows in part.tables.items():
        wanted = [
            {head: figure.of(row) for head, figure in rows.columns.items()}
            for row in value_of(answer, rows.of)
        ]
        there = [
            {head: text for head, text in row.items() if head in rows.columns}
            for row in shown.tables.get(label, [])
        ]
        # What has no row has no figure: then the data is not what the page is to be tried with.
        if there != wanted or not wanted:
            found.append(f"{label}: {wanted} by {part.asks}, and on the page {there}")
    return found


def value_of(answer: Any, where: Field) -> Any:
    """Return a field of an answer; ``""`` is the answer itself."""
    if callable(where):
        return where(answer)
    for name in filter(None, where.split(".")):
        answer = answer[int(name)] if isinstance(answer, list) else answer[name]
    return answer


def number(where: Field) -> Figure:
    """As 12,345."""
    return Figure(lambda value: f"{_rounded(value, 0):,}", where)


def score(where: Field) -> Figure:
    """As 0.812."""
    return Figure(lambda value: f"{_rounded(value, 3):,}", where)


def difference(where: Field) -> Figure:
    """As +0.125 or -0.125."""
    return Figure(lambda value: _signed(_rounded(value, 3)), where)


def level(where: Field) -> Figure:
    """As +2, 0 or -3."""
    return Figure(lambda value: _signed(_rounded(value, 0)), where)


def percent(where: Field) -> Figure:
    """As 4.5%."""
    return Figure(lambda value: f"{_trimmed(_rounded(_decimal(value) * 100, 1), 0)}%", where)


def nano_dollars(where: Field) -> Figure:
    """As $0.00000125 of billionths of a dollar; from a cent on with four places."""

    def show(value: int) -> str:
        places = 9 if abs(value) < 10_000_000 else 4
        return f"${_trimmed(_rounded(Decimal(value).scaleb(-9), places), 2)}"

    return Figure(show, where)


def duration(where: Field) -> Figure:
    """As 850 ms, 4.2 s, 3 min, 5 h or 2 d, of milliseconds."""

    def show(value: float) -> str:
        if value < 1_000:
            return f"{_rounded(value, 0)} ms"
        if value < 60_000:
            # As a page does: 4.35 is a little less than that, and 4.25 is what it says.
            return f"{Decimal(value / 1_000).quantize(Decimal('0.1'), ROUND_HALF_UP)} s"
        for unit, size, most in (("min", 60_000, 120), ("h", 3_600_000, 48)):
            if value < size * most:
                return f"{_rounded(value / size, 0)} {unit}"
        return f"{_rounded(value / 86_400_000, 0)} d"

    return Figure(show, where)


def size(where: Field) -> Figure:
    """As 12.3 MB."""

    def show(value: int) -> str:
        for unit, bound in (("kB", 10**3), ("MB", 10**6), ("GB", 10**9)):
            if value < bound:
                break
            text = f"{_rounded(Decimal(value) / bound, 1)} {unit}"
        return f"{value} B" if value < 1_000 else text

    return Figure(show, where)


def text(where: Field) -> Figure:
    """As it is, a code's underscores as blanks."""
    return Figure(lambda value: " ".join(str(value).replace("_", " ").split()), where)


def plain(where: Field) -> Figure:
    """As it is, to the letter."""
    return Figure(str, where)


def shares(where: str) -> Figure:
    """A bar of states, of which those with none are not told."""

    def told(answer: Any) -> list[str]:
        counts = value_of(answer, where)
        return [f"{counts[state]:,} {state}" for state in STATES if counts[state] > 0]

    return Figure(lambda parts: ", ".join(parts) or "none", told)


def joined(*figures: Figure | str) -> Figure:
    """Several figures with words between them."""

    def said(answer: Any) -> str:
        return "".join(one if isinstance(one, str) else one.of(answer) for one in figures)

    return Figure(str, said)


def bars(where: Field) -> Figure:
    """A histogram of scores from 0 to 1: all together, and the fullest bar with its share."""

    def said(answer: Any) -> str:
        values = value_of(answer, where)
        top = values.index(max(values))
        share = percent("").of(values[top] / sum(values))
        return f"{sum(values):,} in all, most at {top / len(values):.2f} ({share})"

    return Figure(str, said)


def _by_label(pairs: list[list[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for label, said in pairs:
        found.setdefault(label, []).append(said)
    return found


def _decimal(value: Any) -> Decimal:
    # As browsers do: of the shortest digits that name a number, not of its binary value.
    return value if isinstance(value, Decimal) else Decimal(repr(value))


def _rounded(value: Any, places: int) -> Decimal:
    return _decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _signed(value: Decimal) -> str:
    return f"{abs(value):,}" if value == 0 else f"{value:+,}"


def _trimmed(value: Decimal, least: int) -> str:
    """Without noughts at the end, but for so many places."""
    whole, _, places = f"{value:,f}".partition(".")
    kept = places.rstrip("0").ljust(least, "0")
    return f"{whole}.{kept}" if kept else whole
