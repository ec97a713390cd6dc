"""``autotune webhooks``: who gets events."""

from typing import Annotated, cast

import typer

from autotune.cli.invocation import Columns, Invocation, command, given, stop
from autotune.protocol.events import DeliveryStatus, EventType, WebhookStatus
from autotune.protocol.webhooks import Delivery, Webhook, WebhookSecretResponse

app = typer.Typer(
    no_args_is_help=True,
    help="Webhooks: create, list, get, update, delete, rotate-secret, deliveries, replay.",
)

_COLUMNS: Columns[Webhook] = {
    "ID": lambda webhook: webhook.id,
    "URL": lambda webhook: webhook.url,
    "EVENTS": lambda webhook: (
        "all" if webhook.event_types == "all" else ",".join(webhook.event_types)
    ),
    "STATUS": lambda webhook: webhook.status,
    "REASON": lambda webhook: webhook.disabled_reason,
    "FAILING SINCE": lambda webhook: webhook.failing_since,
}
_DELIVERY_COLUMNS: Columns[Delivery] = {
    "EVENT": lambda delivery: delivery.event_id,
    "TYPE": lambda delivery: delivery.event_type,
    "OCCURRED": lambda delivery: delivery.occurred_at,
    "STATUS": lambda delivery: delivery.status,
    "ATTEMPTS": lambda delivery: delivery.attempts,
    "HTTP": lambda delivery: delivery.last_status,
    "ERROR": lambda delivery: delivery.last_error,
    "NEXT ATTEMPT": lambda delivery: delivery.next_attempt_at,
}

Events = Annotated[
    list[str] | None,
    typer.Option(
        "--event",
        help="score.completed, batch.completed, grader.status_changed, grader.version_changed, "
        "grader.calibration_suspended, review.requested, ledger.batch.completed, "
        "ledger.batch.needs_operator, ledger.import.completed, "
        "ledger.connection.paused, ledger.connection.resumed, budget.exhausted, budget.warning, "
        "deck.run.completed, deck.edit.measured, deck.proposal.completed, "
        "model.promoted, apprentice.alarm, apprentice.canary, apprentice.training or "
        "apprentice.report; may be repeated.",
    ),
]


@command(app)
def create(
    invocation: Invocation,
    *,
    url: Annotated[str, typer.Option(help="HTTPS URL that events are posted to.")],
    event: Events = None,
    description: Annotated[str | None, typer.Option()] = None,
) -> None:
    """Have events posted to a URL, all types without --event; print the secret, this once."""
    created = invocation.client.webhooks.create(
        url=url, event_types=cast("list[EventType] | None", event), description=description
    )
    _show_secret(invocation, created)


@command(app, "list")
def list_(invocation: Invocation) -> None:
    """List the organisation's webhooks, oldest first."""
    invocation.show_all(invocation.client.webhooks.list(), _COLUMNS)


@command(app)
def get(invocation: Invocation, webhook_id: str) -> None:
    """Show a webhook."""
    invocation.show(invocation.client.webhooks.get(webhook_id))


@command(app)
def update(
    invocation: Invocation,
    webhook_id: str,
    *,
    url: Annotated[str | None, typer.Option(help="HTTPS URL that events are posted to.")] = None,
    event: Events = None,
    all_events: Annotated[
        bool, typer.Option("--all-events", help="Events of all types from now on.")
    ] = False,
    description: Annotated[str | None, typer.Option()] = None,
    status: Annotated[str | None, typer.Option(help="active or disabled.")] = None,
) -> None:
    """Change what is given; --status active takes a disabled webhook up again."""
    if all_events and event:
        stop("give either --event or --all-events")
    invocation.show(
        invocation.client.webhooks.update(
            webhook_id,
            url=given(url),
            event_types="all" if all_events else given(cast("list[EventType] | None", event)),
            description=given(description),
            status=given(cast("WebhookStatus | None", status)),
        )
    )


@command(app)
def delete(invocation: Invocation, webhook_id: str) -> None:
    """Delete a webhook; nothing is sent to it any more."""
    invocation.client.webhooks.delete(webhook_id)
    invocation.show_deleted(webhook_id)


@command(app)
def rotate_secret(invocation: Invocation, webhook_id: str) -> None:
    """Print a new secret, this once; for 24 hours the one before signs, too."""
    _show_secret(invocation, invocation.client.webhooks.rotate_secret(webhook_id))


@command(app)
def deliveries(
    invocation: Invocation,
    webhook_id: str,
    *,
    status: Annotated[
        str | None, typer.Option(help="Only those pending, delivered or failed.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
) -> None:
    """List a webhook's deliveries of the last 30 days, the newest event first."""
    found = invocation.client.webhooks.deliveries(
        webhook_id, status=cast("DeliveryStatus | None", status)
    )
    invocation.show_all(found, _DELIVERY_COLUMNS, limit)


@command(app)
def replay(
    invocation: Invocation,
    webhook_id: str,
    event_id: Annotated[str | None, typer.Argument(help="The event to send again.")] = None,
    *,
    failed: Annotated[
        bool, typer.Option("--failed", help="Send all failed ones again instead.")
    ] = False,
) -> None:
    """Have an event, or all failed ones, sent again under the same id."""
    if failed == (event_id is not None):
        stop("give either the id of an event or --failed")
    client = invocation.client.webhooks
    if event_id is not None:
        event_ids = [event_id]
    else:
        event_ids = [one.event_id for one in client.deliveries(webhook_id, status="failed")]
    for one in event_ids:
        client.replay(webhook_id, one)
    replayed = len(event_ids)
    if invocation.as_json:
        invocation.show_json({"id": webhook_id, "replayed": replayed})
    else:
        typer.echo(f"replayed {replayed}")


def _show_secret(invocation: Invocation, answer: WebhookSecretResponse) -> None:
    warning = "The secret is shown this once; the subscriber verifies signatures with it."
    invocation.show_once(answer, answer.webhook, {"secret": answer.secret}, warning)
