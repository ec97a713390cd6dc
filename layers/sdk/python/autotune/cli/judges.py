"""Options that say who judges a task's completions: graders with weights, and people."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from autotune.cli.invocation import require_id
from autotune.protocol.limits import (
    MAX_GRADER_WEIGHT,
    MAX_REVIEW_SECONDS,
    MAX_TASK_GRADERS,
    MIN_REVIEW_SECONDS,
)
from autotune.protocol.tasks import Aggregation, OnExpiry

GraderWeights = Annotated[
    list[str],
    typer.Option(help="Id of a verified grader; ID=WEIGHT, and once more, for several."),
]
NewGraderWeights = Annotated[
    list[str] | None,
    typer.Option(
        "--grader", help="As for a new task, in place of all graders that there were before."
    ),
]
AggregationOption = Annotated[
    Aggregation | None,
    typer.Option(help="How the values of several graders become one; by default mean."),
]
QuorumOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=MAX_TASK_GRADERS, help="How many graders have to score; by default all."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """When a person is asked, and what happens where none answers."""

    review_confidence_below: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Ask a person where graders are less confident."),
    ] = None
    review_disagreement_above: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Ask a person where graders differ by more."),
    ] = None
    review_sampled_share: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Ask a person about this share of all completions."),
    ] = None
    review_expires_after: Annotated[
        int | None,
        typer.Option(
            min=MIN_REVIEW_SECONDS,
            max=MAX_REVIEW_SECONDS,
            help="Seconds that a person has; by default 3 days.",
        ),
    ] = None
    review_on_expiry: Annotated[
        OnExpiry | None,
        typer.Option(help="What happens where nobody answered in time; by default keep."),
    ] = None
    review_instructions: Annotated[str | None, typer.Option(help="What reviewers are told.")] = None

    def policy(self) -> dict[str, Any] | None:
        """Return the policy of the options that were given; None where none was."""
        policy = {
            name.removeprefix("review_"): value
            for name, value in asdict(self).items()
            if value is not None
        }
        if "expires_after" in policy:
            policy["expires_after_seconds"] = policy.pop("expires_after")
        return policy or None


def weights(given: Sequence[str]) -> dict[str, float]:
    """Return the weight of each grader, by its id; 1 where none is given."""
    found: dict[str, float] = {}
    for option in given:
        grader_id, has_weight, weight = option.partition("=")
        require_id("grd", grader_id, name="grader", option="--grader")
        if grader_id in found:
            raise typer.BadParameter(f"{grader_id} is named twice", param_hint="--grader")
        found[grader_id] = _weight(weight) if has_weight else 1.0
    return found


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight <= MAX_GRADER_WEIGHT:
        raise typer.BadParameter(
            f"a weight lies above 0 and up to {MAX_GRADER_WEIGHT:,}, not {text!r}",
            param_hint="--grader",
        )
    return weight
