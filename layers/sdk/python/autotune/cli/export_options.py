"""Options that say what training data are made of, each for the shapes that have it."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from autotune.protocol.exports import ExportShape, Pairing
from autotune.protocol.limits import (
    MAX_EXPORT_PAIRS,
    MAX_EXPORT_SEED,
    MAX_PAIRED_COMPLETIONS,
)

_SHAPES: dict[str, tuple[ExportShape, ...]] = {
    "min_score_delta": ("preference",),
    "sample_size": ("preference",),
    "seed": ("preference",),
    "pairing": ("preference",),
    "min_confidence": ("preference",),
    "threshold": ("unpaired", "stepwise"),
    "separator": ("stepwise",),
}


@dataclass(frozen=True, kw_only=True)
class ShapeOptions:
    """What training data are made of."""

    min_score_delta: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="preference: least difference of a pair's scores, above 0; else any."
        ),
    ] = None
    sample_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_EXPORT_PAIRS,
            help="preference: most pairs, drawn uniformly from all; else all of them.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_EXPORT_SEED,
            help="preference: the same data and seed make the same pairs; by default 0.",
        ),
    ] = None
    pairing: Annotated[
        Pairing | None,
        typer.Option(
            help="preference: the best and the worst response to each prompt (by default), or each "
            f"two of up to {MAX_PAIRED_COMPLETIONS}."
        ),
    ] = None
    min_confidence: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="preference: least confidence of both scores; by default 0."
        ),
    ] = None
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="unpaired, stepwise: from which score on a response or step is good; by default "
            "0.5.",
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(help="stepwise: what stands between steps; by default the end of a line."),
    ] = None

    def arguments(self, shape: ExportShape) -> dict[str, Any]:
        """Return the argument of ``exports.create`` that holds a shape's options, if any.

        Raises:
            typer.BadParameter: an option is of another shape.
        """
        options = {name: value for name, value in asdict(self).items() if value is not None}
        for name in options:
            if shape not in _SHAPES[name]:
                shapes = " or ".join(f"--shape {one}" for one in _SHAPES[name])
                hint = f"--{name.replace('_', '-')}"
                raise typer.BadParameter(f"goes with {shapes}, not {shape}", param_hint=hint)
        return {shape: options} if options else {}
