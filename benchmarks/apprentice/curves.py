"""Curves of cost against accuracy as an SVG, written plainly."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 760, 470
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 180, 52, 56
_FONT = "font-family='system-ui, sans-serif'"
_INK, _PALE = "#1f2933", "#d5dbe1"

Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """One strategy.

    Attributes:
        name: as it is written beside it.
        colour: of its line and points.
        points: cost and accuracy, from the cheapest on.
        is_line: whether its points are joined: those of one strategy with other settings.
    """

    name: str
    colour: str
    points: Sequence[Point]
    is_line: bool = True


def drawn(curves: Sequence[Curve], *, title: str, across: str, up: str) -> str:
    """Return a picture of curves, with a legend beside it.

    Args:
        across: what the first number of points is, from 0 to 1.
        up: what the second one is.
    """
    lowest = min(y for curve in curves for _, y in curve.points)
    highest = max(y for curve in curves for _, y in curve.points)
    bottom, top = _around(lowest, highest)
    x_of = _scale((0.0, 1.0), (_LEFT, _WIDTH - _RIGHT))
    y_of = _scale((bottom, top), (_HEIGHT - _BOTTOM, _TOP))
    parts = [
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' "
            f"width='{_WIDTH}' height='{_HEIGHT}' role='img' aria-label='{escape(title)}'>"
        ),
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' fill='white'/>",
        _text(_LEFT, 28, title, size=16, weight=600),
    ]
    for tenth in range(0, 11, 2):
        x = x_of(tenth / 10)
        parts.append(_line(x, _TOP, x, _HEIGHT - _BOTTOM, _PALE))
        parts.append(_text(x, _HEIGHT - _BOTTOM + 18, f"{tenth * 10} %", anchor="middle"))
    step = 0.01 if top - bottom <= 0.08 else 0.02
    for number in range(round((top - bottom) / step) + 1):
        value = bottom + number * step
        y = y_of(value)
        parts.append(_line(_LEFT, y, _WIDTH - _RIGHT, y, _PALE))
        parts.append(_text(_LEFT - 8, y + 4, f"{value:.2f}", anchor="end"))
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 14, across, anchor="middle"))
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(
        f"<text transform='translate(18 {middle:.1f}) rotate(-90)' text-anchor='middle' "
        f"font-size='13' fill='{_INK}' {_FONT}>{escape(up)}</text>"
    )
    for place, curve in enumerate(curves):
        parts += _curve(curve, x_of, y_of)
        y = _TOP + 12 + 22 * place
        parts.append(_dot(_WIDTH - _RIGHT + 20, y - 4, curve.colour))
        parts.append(_text(_WIDTH - _RIGHT + 32, y, curve.name))
    return "\n".join([*parts, "</svg>", ""])


def _curve(curve: Curve, x_of: "_Scale", y_of: "_Scale") -> list[str]:
    places = [(x_of(x), y_of(y)) for x, y in curve.points]
    parts = []
    if curve.is_line and len(places) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f"<polyline points='{path}' fill='none' stroke='{curve.colour}' stroke-width='2'/>"
        )
    return parts + [_dot(x, y, curve.colour) for x, y in places]


@dataclass(frozen=True)
class _Scale:
    start: float
    by: float
    least: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.least) * self.by


def _scale(values: tuple[float, float], places: tuple[float, float]) -> _Scale:
    return _Scale(places[0], (places[1] - places[0]) / (values[1] - values[0]), values[0])


def _around(lowest: float, highest: float) -> tuple[float, float]:
    """Return whole hundredths, an even number of them apart."""
    bottom, top = int(lowest * 100 - 0.5), int(highest * 100) + 1
    return (bottom - (top - bottom) % 2) / 100, top / 100


def _line(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    return f"<line x1='{x:.1f}' y1='{y:.1f}' x2='{to_x:.1f}' y2='{to_y:.1f}' stroke='{colour}'/>"


def _dot(x: float, y: float, colour: str) -> str:
    return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4.5' fill='{colour}'/>"


def _text(
    x: float, y: float, said: str, *, size: int = 13, weight: int = 400, anchor: str = "start"
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' font-weight='{weight}' "
        f"text-anchor='{anchor}' fill='{_INK}' {_FONT}>{escape(said)}</text>"
    )
