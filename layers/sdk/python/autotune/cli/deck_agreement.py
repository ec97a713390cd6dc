"""``autotune decks agreement`` and its neighbours: how far judges agree with people."""

from typing import Annotated

import typer

from autotune.cli.deck_labels import level
from autotune.cli.invocation import Columns, Invocation, page_size
from autotune.protocol.deck_agreement import (
    Agreement,
    CellPattern,
    DeckMeans,
    Disagreement,
    ErrorPattern,
    HumanCeiling,
    KappaEstimate,
    LevelBias,
    MeanEstimate,
)
from autotune.protocol.deck_publishing import PublishedCalibration, ShownCalibration
from autotune.protocol.deck_rubrics import LEVELS

_BIAS_COLUMNS: Columns[LevelBias] = {
    "JUDGE SAYS": lambda one: level(one.level),
    "N": lambda one: one.n,
    "TOO HIGH BY": lambda one: _mean(one),  # noqa: PLW0108 - it is made below
}
_DISAGREEMENT_COLUMNS: Columns[Disagreement] = {
    "SAMPLE": lambda one: one.sample_id,
    "TRUTH": lambda one: level(one.truth, does_not_apply=one.truth is None),
    "JUDGE": lambda one: level(one.score, does_not_apply=one.score is None),
    "BY": lambda one: None if one.distance is None else f"{one.distance:+d}",
    "OUTPUT": lambda one: " ".join(one.output_excerpt.split())[:40],
    "WHY": lambda one: " ".join((one.result.explanation or "").split())[:60] or None,
}

_CELL_COLUMNS: Columns[CellPattern] = {
    "TRUTH": lambda one: level(one.truth),
    "JUDGE": lambda one: level(one.score),
    "SAMPLES": lambda one: one.count,
    "BY CHANCE": lambda one: f"{one.expected:.1f}",
    "Q": lambda one: f"{one.q:.4f}",
    "SURE": lambda one: one.significant,
}
_ERROR_COLUMNS: Columns[ErrorPattern] = {
    "SAMPLES WHOSE": lambda one: one.factor,
    "IS": lambda one: one.value,
    "N": lambda one: one.n,
    "TOO HIGH BY": lambda one: _interval(one.mean_error, one.low, one.high),
    "Q": lambda one: None if one.q is None else f"{one.q:.4f}",
    "SURE": lambda one: one.significant,
}

Version = Annotated[int | None, typer.Option(min=1, help="Of this version; else the current one.")]
DeckVersion = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Of samples with this version of the system prompt; else of those with the current.",
    ),
]


def agreement(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    version: Version = None,
    deck_version: DeckVersion = None,
) -> None:
    """Show how far a grader agrees with people, on drawn samples that are held out.

    It spends the version's look at them where it has none: each version that is looked at after the
    first makes the interval of the next one wider.
    """
    found = invocation.client.decks.labels.agreement(
        deck_id, grader_id, version=version, deck_version=deck_version
    )
    if invocation.as_json:
        invocation.show_json(found)
        return
    enough = "yes" if found.sufficient else f"no: {_said(found.insufficient_because)}"
    invocation.show_fields(
        {
            "grader": f"{found.grader_id} version {found.version}",
            "system prompt": f"version {found.deck_version}",
            "kappa": _kappa(found.kappa),
            "look": _look(found),
            "pairs": f"{found.n} in {found.groups} groups",
            "enough labels": enough,
            "labels": _labels(found),
            "coverage": _share(found.coverage),
            "mean bias": _mean(found.mean_bias),
            "same level": f"{_share(found.percent_agreement) or '-'}, which decides nothing",
            "people": _people(found.ceiling),
            "development": _kappa(found.development.kappa),
            "published": _published(found.published),
            "fresh labels": _fresh(found.published),
        }
    )
    if found.bias_by_level:
        typer.echo()
        invocation.show_all(found.bias_by_level, _BIAS_COLUMNS)
    if any(map(any, found.confusion)):
        typer.echo("\nDevelopment half: truth by row, judge by column")
        typer.echo("     " + "".join(f"{level(one):>6}" for one in LEVELS))
        for truth, row in zip(LEVELS, found.confusion, strict=True):
            typer.echo(f"{level(truth):>5}" + "".join(f"{count or '.':>6}" for count in row))


def means(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    model: Annotated[str | None, typer.Option(help="Only of what this model wrote.")] = None,
    version: Version = None,
    deck_version: DeckVersion = None,
) -> None:
    """Show the mean level that people would give to held-out samples.

    It spends the version's look at their labels where it has none, as `agreement` does.
    """
    found = invocation.client.decks.labels.means(
        deck_id, grader_id, model=model, version=version, deck_version=deck_version
    )
    if invocation.as_json:
        invocation.show_json(found)
        return
    enough = "yes" if found.sufficient else f"no: {_said(found.insufficient_because)}"
    used = found.corrected if found.use == "corrected" else found.labels_only
    invocation.show_fields(
        {
            "grader": f"{found.grader_id} version {found.version}",
            "system prompt": f"version {found.deck_version}",
            "model": found.model,
            "mean": _mean(used),
            "enough labels": enough,
            "weights": _weights(found),
            "corrected": _mean(found.corrected),
            "labels only": _mean(found.labels_only),
            "judge alone": None if found.naive is None else f"{found.naive:+.2f}",
            "labels": f"{found.labels}, and {found.unlabelled} that the judge alone has judged",
            "not judged": _unless_none(found.unjudged, "samples, so that labels alone count"),
            "without truth": _unless_none(found.without_truth, "drawn samples"),
            "came later": _unless_none(found.came_later, "samples, in no figure"),
        }
    )


def disagreements(
    invocation: Invocation,
    deck_id: str,
    grader_id: str,
    *,
    version: Version = None,
    applies: Annotated[
        bool,
        typer.Option(
            "--applies", help="Those on which they differ whether the question applies at all."
        ),
    ] = False,
    truth: Annotated[
        int | None, typer.Option(min=-3, max=3, help="Only those of this true level.")
    ] = None,
    score: Annotated[
        int | None, typer.Option(min=-3, max=3, help="Only those of this level of the judge.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List samples on which judge and people differ, the widest first; none that is held out."""
    found = invocation.client.decks.labels.disagreements(
        deck_id,
        grader_id,
        version=version,
        about="applicability" if applies else "levels",
        truth=truth,
        score=score,
        page_size=page_size(limit),
    )
    invocation.show_all(found, _DISAGREEMENT_COLUMNS, limit)


def patterns(
    invocation: Invocation, deck_id: str, grader_id: str, *, version: Version = None
) -> None:
    """Show where a grader's judge errs, the surest first; of nothing that is held out.

    SURE is yes where chance alone is unlikely, all comparisons taken together: Q is at most 0.05.
    """
    found = invocation.client.decks.labels.patterns(deck_id, grader_id, version=version)
    if invocation.as_json:
        invocation.show_json(found)
        return
    typer.echo(f"{found.n} samples of the development half\n")
    invocation.show_all(found.cells, _CELL_COLUMNS)
    typer.echo()
    invocation.show_all(found.errors, _ERROR_COLUMNS)


def _kappa(kappa: KappaEstimate) -> str:
    if kappa.value is None:
        return f"undefined: {_said(kappa.undefined_because)}"
    if kappa.low is None or kappa.high is None:
        return f"{kappa.value:.3f}, no interval: {_said(kappa.no_interval_because)}"
    return f"{kappa.value:.3f} ({kappa.low:.3f} to {kappa.high:.3f} at {kappa.confidence:.0%})"


def _look(found: Agreement) -> str:
    if found.look is None:
        return "none: it has judged no label that is held out"
    which = "the first version" if found.look == 0 else f"number {found.look}"
    return f"{which}, of {found.looks} after the first"


def _mean(mean: MeanEstimate) -> str | None:
    if mean.value is None:
        return None
    if mean.no_interval_because is not None:
        return f"{mean.value:+.2f}, no interval: {_said(mean.no_interval_because)}"
    return _interval(mean.value, mean.low, mean.high)


def _weights(found: DeckMeans) -> str | None:
    """Return what is to be done where few labels stand for most samples; else None."""
    if found.insufficient_because != "uneven_weights":
        return None
    return (
        f"uneven: the {found.labels} labels together say less than 50 of equal weight would, "
        "because few of them stand for the samples that came later; draw more of those"
    )


def _interval(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{value:+.2f}"
    return f"{value:+.2f} ({low:+.2f} to {high:+.2f})"


def _labels(found: Agreement) -> str:
    left = {
        "not judged": found.ungraded,
        "failed": found.failed,
        "to be adjudicated": found.to_adjudicate,
        "of them those that chose this version": found.chose_version,
        "left by all": found.skipped,
        "samples that came after the last label": found.came_later,
        "not blind": found.not_blind,
        "rated under other criteria": found.other_criteria,
    }
    said = [f"{count} {what}" for what, count in left.items() if count]
    return ", ".join([f"{found.labels} drawn and held out", *said])


def _people(ceiling: HumanCeiling) -> str:
    if not ceiling.samples:
        return "no sample was rated by several"
    alpha, one = ceiling.alpha.value, ceiling.leave_one_out_kappa
    said = [
        f"{ceiling.raters} on {ceiling.samples} samples",
        f"alpha {'undefined' if alpha is None else f'{alpha:.3f}'}",
    ]
    if one is not None:
        said.append(f"kappa of one with the others {one:.3f}")
    return ", ".join(said)


def _published(published: PublishedCalibration | None) -> str | None:
    if published is None:
        return None
    which = "the current one" if published.is_current else "not the current one"
    said = [f"version {published.version}, {which}, as {published.grader_id}"]
    calibration = published.calibration
    if published.uncalibrated_because is not None:
        said.append(f"not calibrated: {_said(published.uncalibrated_because)}")
    if calibration is not None:
        said.append(
            f"kappa of {calibration.model} {calibration.kappa:.3f}, at least "
            f"{calibration.low:.3f} where {calibration.threshold:g} is needed"
            + _looked(calibration)
        )
    return ", ".join(said)


def _looked(calibration: ShownCalibration) -> str:
    """Return what makes a calibration's figures worse than they look."""
    said = f", at look {calibration.look}" if calibration.look else ""
    if calibration.chose_version:
        said += f", {calibration.chose_version} of its {calibration.n} labels chose the version"
    return said


def _fresh(published: PublishedCalibration | None) -> str | None:
    fresh = published.fresh if published else None
    if fresh is None:
        return None
    said = "none yet"
    if fresh.predicted is not None:
        said = f"{fresh.hits} of {fresh.labels} within one level, {fresh.predicted:.0%} predicted"
    return f"{said}, after {fresh.looks} times twenty" if fresh.looks else said


def _unless_none(count: int, of_what: str) -> str | None:
    return f"{count} {of_what}" if count else None


def _share(share: float | None) -> str | None:
    return None if share is None else f"{share:.1%}"


def _said(reason: str | None) -> str:
    return (reason or "unknown").replace("_", " ")
