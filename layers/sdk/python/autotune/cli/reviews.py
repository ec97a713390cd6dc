"""``autotune reviews``: what people judge."""

from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, command, note, page_size
from autotune.protocol.review_figures import AgreementWindow, ReviewerProgress
from autotune.protocol.reviews import (
    CannotJudgeReason,
    Review,
    ReviewLink,
    ReviewState,
    ReviewSummary,
)

app = typer.Typer(no_args_is_help=True, help="Reviews: completions that wait for a person's score.")

_COLUMNS: Columns[ReviewSummary] = {
    "ID": lambda review: review.id,
    "STATE": lambda review: review.state,
    "REASON": lambda review: review.reason,
    "CREATED": lambda review: f"{review.created_at:%Y-%m-%d %H:%M}",
    "EXPIRES": lambda review: f"{review.expires_at:%Y-%m-%d %H:%M}",
    "FOR": lambda review: review.assignee_id,
    "HELD BY": lambda review: review.lease.holder if review.lease else None,
    "COMPLETION": lambda review: review.completion_id,
}

_LINK_COLUMNS: Columns[ReviewLink] = {
    "ID": lambda link: link.id,
    "FOR": lambda link: link.reviewer_id,
    "REVIEW": lambda link: link.review_id or "all",
    "STATUS": lambda link: link.status,
    "EXPIRES": lambda link: f"{link.expires_at:%Y-%m-%d %H:%M}",
    "LAST USED": lambda link: f"{link.last_used_at:%Y-%m-%d %H:%M}" if link.last_used_at else None,
    "MADE BY": lambda link: link.created_by,
}

_PROGRESS_COLUMNS: Columns[ReviewerProgress] = {
    "REVIEWER": lambda one: one.reviewer_id,
    "TODAY": lambda one: one.today.answered,
    "ANSWERED": lambda one: one.total.answered,
    "SECOND OPINIONS": lambda one: one.total.second_opinions,
    "CORRECTED": lambda one: one.total.corrected,
    "CANNOT JUDGE": lambda one: one.total.cannot_judge,
}


@command(app, "list")
def list_(
    invocation: Invocation,
    state: Annotated[ReviewState, typer.Option(help="Those in this state.")] = "open",
    task: Annotated[str | None, typer.Option(help="Only those of this task.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
) -> None:
    """List reviews, the oldest first."""
    found = invocation.client.reviews.list(state=state, task_id=task, page_size=page_size(limit))
    invocation.show_all(found, _COLUMNS, limit)


@command(app)
def get(
    invocation: Invocation,
    review_id: str,
    preliminary: Annotated[
        bool, typer.Option(help="Also the scores of graders; that you saw it is noted.")
    ] = False,
) -> None:
    """Show a review with its prompt and response."""
    _show(invocation, invocation.client.reviews.get(review_id, include_preliminary=preliminary))


@command(app, "next")
def next_(
    invocation: Invocation,
    skip: Annotated[
        list[str] | None, typer.Option(help="A review to leave to others; may be repeated.")
    ] = None,
) -> None:
    """Take the next open review for 15 minutes, and show it; in JSON `review` is null if none."""
    review = invocation.client.reviews.next(skip=skip or [])
    if invocation.as_json:
        shown = None if review is None else review.model_dump(by_alias=True, mode="json")
        invocation.show_json({"review": shown})
    elif review is None:
        note("Nothing is left to review.")
    else:
        _show(invocation, review)


@command(app)
def claim(invocation: Invocation, review_id: str) -> None:
    """Take a review for 15 minutes, or keep it for 15 more."""
    invocation.show(invocation.client.reviews.claim(review_id))


@command(app)
def answer(
    invocation: Invocation,
    review_id: str,
    value: Annotated[float, typer.Option(help="The score, from 0 to 1.")],
    explanation: Annotated[str | None, typer.Option(help="What decided it.")] = None,
) -> None:
    """Score what is reviewed; the completion's verdict follows."""
    invocation.show(
        invocation.client.reviews.answer(review_id, value=value, explanation=explanation)
    )


@command(app)
def correct(
    invocation: Invocation,
    review_id: str,
    value: Annotated[float, typer.Option(help="The score, from 0 to 1.")],
    explanation: Annotated[str | None, typer.Option(help="What decided it.")] = None,
) -> None:
    """Change your own answer as a whole, while the task allows it."""
    invocation.show(
        invocation.client.reviews.correct(review_id, value=value, explanation=explanation)
    )


@command(app)
def cannot_judge(
    invocation: Invocation,
    review_id: str,
    reason: Annotated[CannotJudgeReason, typer.Option(help="Why; other needs an explanation.")],
    explanation: Annotated[str | None, typer.Option(help="Why, in words.")] = None,
) -> None:
    """Say that you cannot judge; another person is asked."""
    invocation.show(
        invocation.client.reviews.cannot_judge(review_id, reason=reason, explanation=explanation)
    )


@command(app)
def progress(invocation: Invocation) -> None:
    """List what people reviewed today, by UTC, and in all; a reviewer sees only their own."""
    invocation.show_all(invocation.client.reviews.progress(), _PROGRESS_COLUMNS)


@command(app)
def agreement(
    invocation: Invocation,
    task: Annotated[str | None, typer.Option(help="Of this task; of all without it.")] = None,
    grader: Annotated[
        str | None,
        typer.Option(help="Of this grader and of people who had not looked at its answer."),
    ] = None,
    window: Annotated[AgreementWindow, typer.Option(help="The days that count.")] = "30d",
) -> None:
    """Show how far two people agree where a second opinion was asked, or people and a grader."""
    found = invocation.client.reviews.agreement(task_id=task, grader_id=grader, window=window)
    invocation.show(found)


@command(app)
def release(invocation: Invocation, review_id: str) -> None:
    """Give a review back, so that anybody can take it."""
    invocation.show(invocation.client.reviews.release(review_id))


@command(app)
def assign(
    invocation: Invocation,
    review_id: str,
    to: Annotated[
        str | None, typer.Option(help="Principal of a key, or reviewer of a link; all without it.")
    ] = None,
) -> None:
    """Say whom a review is for."""
    invocation.show(invocation.client.reviews.assign(review_id, assignee_id=to))


@command(app)
def link(
    invocation: Invocation,
    reviewer: Annotated[str, typer.Option(help="Whose link it is; their answers bear the name.")],
    review: Annotated[str | None, typer.Option(help="The one review that it opens.")] = None,
    hours: Annotated[float, typer.Option(min=0.02, max=168, help="How long it holds.")] = 24,
) -> None:
    """Make a link to the review page for a person without a key, and print it, this once."""
    made = invocation.client.reviews.link(
        reviewer_id=reviewer, review_id=review, expires_in_seconds=round(hours * 3_600)
    )
    if invocation.as_json:
        invocation.show_json(made)
        return
    link = made.link
    note(f"Who has this link reviews as {link.reviewer_id} until {link.expires_at:%Y-%m-%d %H:%M}.")
    note(f"`autotune reviews revoke-link {link.id}` ends it before.")
    typer.echo(made.url)


@command(app)
def links(invocation: Invocation) -> None:
    """List the links that somebody made and that have not ended by their time."""
    invocation.show_all(invocation.client.reviews.links(), _LINK_COLUMNS)


@command(app)
def revoke_link(invocation: Invocation, link_id: str) -> None:
    """Have a link open nothing any more, at once."""
    invocation.show(invocation.client.reviews.revoke_link(link_id))


def _show(invocation: Invocation, review: Review) -> None:
    if invocation.as_json:
        invocation.show_json(review)
        return
    texts = {"Prompt": review.prompt, "Response": review.response}
    fields = {"prompt", "response", "prompt_html", "response_html"}
    invocation.show(review.model_copy(update=dict.fromkeys(fields)))
    missing = "(too large for a response)" if review.text_too_large else "(deleted)"
    for title, text in texts.items():
        typer.echo(f"\n--- {title} ---\n{text if text is not None else missing}")
