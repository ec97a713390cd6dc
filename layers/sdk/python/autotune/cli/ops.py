"""``autotune ops``: what needs AWS credentials instead of an API key."""

import json
import sys
import time
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from autotune.cli import exit_codes, ops_embeddings
from autotune.cli.invocation import Invocation, command, note, stop
from autotune.cli.ops_deployment import Deployment
from autotune.cli.ops_teardown import Hosted, Teardown
from autotune.protocol.access import (
    CreateOrganizationResponse,
    OrganizationLimits,
    OrganizationList,
    OrganizationResponse,
)

AnswerT = TypeVar("AnswerT", bound=BaseModel)

_BETWEEN_STEPS_SECONDS = 5

app = typer.Typer(
    no_args_is_help=True, help="For who runs Autotune: uses AWS credentials; needs boto3."
)
app.add_typer(ops_embeddings.app, name="embeddings")


@command(app)
def create_organization(invocation: Invocation, name: str, *, deployment: Deployment) -> None:
    """Create an organisation and its first admin key, and print the key, this once."""
    answer = deployment.call("CreateOrganization", {"name": name})
    try:
        created = CreateOrganizationResponse.model_validate(answer)
    except ValidationError:
        stop("the function did not answer with an organisation", exit_codes.UNAVAILABLE)
    if invocation.as_json:
        invocation.show_json(created)
        return
    typer.echo(f"{'organizationId':<16} {created.organization.id}")
    note("The key is shown this once; keep it where secrets are kept.")
    typer.echo(f"{'apiKey':<16} {created.api_key}")


@command(app)
def organizations(invocation: Invocation, *, deployment: Deployment) -> None:
    """List organisations, in order of their creation."""
    after: str | None = None
    while True:
        answer = deployment.call("ManageOrganizations", {"action": "list", "after": after})
        page = _read(OrganizationList, answer)
        for one in page.organizations:
            if invocation.as_json:
                invocation.show_json(one)
            else:
                typer.echo(f"{one.id}  {one.status:<9}  {one.created_at:%Y-%m-%d}  {one.name}")
        after = page.next_after
        if after is None:
            return


@command(app)
def suspend_organization(
    invocation: Invocation, organization_id: str, *, deployment: Deployment
) -> None:
    """Accept and return nothing more of an organisation; what it has is kept."""
    _change(invocation, deployment, "suspend", organization_id)


@command(app)
def resume_organization(
    invocation: Invocation, organization_id: str, *, deployment: Deployment
) -> None:
    """Take up an organisation again that was suspended."""
    _change(invocation, deployment, "resume", organization_id)


@command(app)
def delete_organization(
    invocation: Invocation,
    organization_id: str,
    name: Annotated[str, typer.Option(help="Its name, by which you delete no other one.")],
    *,
    deployment: Deployment,
) -> None:
    """Delete a suspended organisation with all that is its own; what is left is its id.

    Ended before its end, it goes on where it was when it is run again.
    """
    event = {"organizationId": organization_id, "name": name}
    while True:
        answer = deployment.call("DeleteOrganization", event)
        found = _read(OrganizationResponse, answer).organization
        if found.status == "deleted":
            break
        note(f"deleted so far: {found.deleted_items or 0}")
        time.sleep(_BETWEEN_STEPS_SECONDS)
    invocation.show(found)


@command(app)
def limit_organization(
    invocation: Invocation,
    organization_id: str,
    limits: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=NUMBER...",
            help="Such as requestsPerSecond=500, or requestsPerSecond=default.",
        ),
    ],
    *,
    deployment: Deployment,
) -> None:
    """Set how much an organisation may ask for, within half a minute; print all its limits."""
    changes = dict(_limit(one) for one in limits)
    event = {"action": "limit", "organizationId": organization_id, "limits": changes}
    answer = deployment.call("ManageOrganizations", event)
    invocation.show(_read(OrganizationResponse, answer).organization.limits)


@command(app)
def stuck(invocation: Invocation, *, deployment: Deployment) -> None:
    """List batches that are overdue; the sweeper redrives them by itself every minute."""
    batches = deployment.call("ListStuck", {})["batches"]
    if invocation.as_json:
        typer.echo(json.dumps(batches))
        return
    for batch in batches:
        typer.echo(
            f"{batch['batchId']}  {batch['organizationId']}  pending {batch['pending']}"
            f"  age {batch['ageSeconds']} s  redriven {batch['sweeps']} times"
        )
    note(f"{len(batches)} batches are overdue")


@command(app)
def sweep(invocation: Invocation, *, deployment: Deployment) -> None:
    """Sweep now instead of at the next full minute; print what was done, in batches."""
    _show_counts(invocation, deployment.call("SweepBatches", {}))


@command(app)
def redrive(invocation: Invocation, *, deployment: Deployment) -> None:
    """Move dead letters back to their queues; print how many of each queue moved."""
    _show_counts(invocation, deployment.call("RedriveDeadLetters", {})["moved"])


@command(app)
def teardown(
    invocation: Invocation,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would go, and delete nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    minutes: Annotated[
        int, typer.Option(min=1, max=240, help="How long to wait for what takes time to go.")
    ] = 45,
    deployment: Deployment,
) -> None:
    """Delete all endpoints, components, configurations and models that host versions at SageMaker.

    They are made at run time, so cdk destroy leaves them, and they cost: run this before it, when
    no training is under way. Only what is tagged as the stack's goes. Ended before its end, it
    goes on where it was when it is run again.
    """
    with deployment.session() as session:
        hosting = Teardown(sagemaker=session.client("sagemaker"), stack=deployment.stack)
        found = hosting.found()
        if dry_run or not found:
            for one in found:
                _show_hosted(invocation, one)
            note(f"{len(found)} would be deleted" if found else "there is nothing to delete")
            return
        is_asked = not (yes or invocation.as_json) and sys.stdin.isatty()
        if is_asked:
            for one in found:
                _show_hosted(invocation, one)
        elif not yes:
            stop(f"{len(found)} would be deleted; give --yes to delete them, --dry-run to see them")
        if is_asked and not typer.confirm(f"Delete these {len(found)}?", err=True):
            stop("nothing was deleted")
        left = hosting.delete(
            within_seconds=minutes * 60, tell=lambda one: _show_hosted(invocation, one)
        )
    if left:
        names = ", ".join(f"{one.kind} {one.name} ({one.status or 'there'})" for one in left[:10])
        stop(f"{len(left)} are left after {minutes} minutes: {names}", exit_codes.UNAVAILABLE)
    note("nothing is left")


def _show_hosted(invocation: Invocation, hosted: Hosted) -> None:
    if invocation.as_json:
        typer.echo(json.dumps(hosted._asdict()))
        return
    typer.echo(f"{hosted.kind:<13}  {hosted.name}  {hosted.status}".rstrip())


def _limit(text: str) -> tuple[str, int | None]:
    """Return the name of a limit and its number; None for what every organisation has."""
    name, _, number = text.partition("=")
    known = [to_camel(one) for one in OrganizationLimits.model_fields]
    if name not in known:
        stop(f"{text} names no limit; there are {', '.join(known)}")
    if number == "default":
        return name, None
    if not number.isdecimal():
        stop(f"{text}: expected {name}= and a number, or {name}=default")
    return name, int(number)


def _change(
    invocation: Invocation, deployment: Deployment, action: str, organization_id: str
) -> None:
    event = {"action": action, "organizationId": organization_id}
    answer = deployment.call("ManageOrganizations", event)
    invocation.show(_read(OrganizationResponse, answer).organization)


def _read(model: type[AnswerT], answer: dict[str, Any]) -> AnswerT:
    try:
        return model.model_validate(answer)
    except ValidationError:
        stop("the function did not answer as expected", exit_codes.UNAVAILABLE)


def _show_counts(invocation: Invocation, counts: dict[str, int]) -> None:
    if invocation.as_json:
        typer.echo(json.dumps(counts))
        return
    for name, count in counts.items():
        typer.echo(f"{name:<10} {count}")
