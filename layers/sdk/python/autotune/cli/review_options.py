"""Options of a task's review policy."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from autotune.cli.invocation import only_given
from autotune.protocol import limits
from autotune.protocol.tasks import OnExpiry


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """When a person is asked, and what happens where none answers."""

    review_confidence_below: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Ask a person where graders are less confident."),
    ] = None
    review_disagreement_above: Annotated[
        float | None, typer.Option(min=0, max=1, help="Ask a person where graders differ by more.")
    ] = None
    review_sampled_share: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Ask a person about this share of all completions."),
    ] = None
    review_expires_after_seconds: Annotated[
        int | None,
        typer.Option(
            "--review-expires-after",
            min=limits.MIN_REVIEW_SECONDS,
            max=limits.MAX_REVIEW_SECONDS,
            help="Seconds that a person has; by default 3 days.",
        ),
    ] = None
    review_on_expiry: Annotated[
        OnExpiry | None,
        typer.Option(help="What happens where nobody answered in time; by default keep."),
    ] = None
    review_instructions: Annotated[str | None, typer.Option(help="What reviewers read.")] = None
    review_show_reference: Annotated[
        bool | None, typer.Option(help="Whether reviewers see the metadata's reference, or answer.")
    ] = None
    review_show_metadata: Annotated[
        bool | None, typer.Option(help="Whether reviewers see the completion's metadata.")
    ] = None
    review_second_opinion_share: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Ask another person, too, about this share of reviews."),
    ] = None
    review_correct_within_minutes: Annotated[
        int | None,
        typer.Option(
            "--review-correct-within",
            min=0,
            max=limits.MAX_CORRECTION_MINUTES,
            help="Minutes in which an answer can be changed; its verdict waits for that.",
        ),
    ] = None

    def policy(self) -> dict[str, Any] | None:
        """Return the policy of the options that were given; None where none was."""
        options = asdict(self).items()
        return only_given({name.removeprefix("review_"): value for name, value in options})
