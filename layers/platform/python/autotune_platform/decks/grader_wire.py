"""Graders of decks as callers see them."""

from typing import Any

from autotune.protocol import deck_rubrics as wire
from autotune.protocol.rubric_lint import lint_rubric
from autotune_platform.decks.models import GraderVersion, WholeGrader


def grader_on_wire(whole: WholeGrader) -> wire.DeckGrader:
    """Return a grader with its current version, and what of it is published."""
    published = whole.grader.published
    return wire.DeckGrader.model_validate(
        {
            **whole.grader.model_dump(),
            **_content(whole.current),
            "calibration": published
            and published.calibration
            and published.calibration.model_dump(),
            "uncalibrated_because": published and published.because,
        },
        from_attributes=True,
    )


def grader_version_on_wire(version: GraderVersion) -> wire.DeckGraderVersion:
    """Return a version of a grader."""
    return wire.DeckGraderVersion.model_validate({**version.model_dump(), **_content(version)})


def _content(version: GraderVersion) -> dict[str, Any]:
    """Return what a version judges by, spelled as it was sent, and what lint says of it."""
    content = version.model_dump(mode="json", by_alias=True, include={"rubric", "judge"})
    judge = content["judge"]
    if judge is not None:
        params = {name: value for name, value in judge["params"].items() if value is not None}
        content["judge"] = {**judge, "params": params}
    return {**content, "lint": lint_rubric(version.rubric)}
