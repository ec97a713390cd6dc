"""``autotune ops``: what needs AWS credentials instead of an API key."""

import json
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from pydantic import ValidationError

from autotune.cli import exit_codes
from autotune.cli.invocation import Invocation, command, note, stop
from autotune.protocol.access import CreateOrganizationResponse

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.exceptions import BotoCoreError, ClientError

_DENIED_CODES = {
    "AccessDenied",
    "AccessDeniedException",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}

app = typer.Typer(
    no_args_is_help=True, help="For who runs Autotune: uses AWS credentials; needs boto3."
)


Stack = Annotated[str, typer.Option(help="Name of the deployed stack.")]
Region = Annotated[str | None, typer.Option(help="AWS region; else what boto3 finds configured.")]


@command(app)
def create_organization(
    invocation: Invocation,
    name: str,
    stack: Stack = "autotune",
    region: Region = None,
) -> None:
    """Create an organisation and its first admin key, and print the key, this once."""
    answer = _call("CreateOrganization", {"name": name}, stack=stack, region=region)
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
def stuck(invocation: Invocation, stack: Stack = "autotune", region: Region = None) -> None:
    """List batches that are overdue; the sweeper drives them again by itself every minute."""
    batches = _call("ListStuck", {}, stack=stack, region=region)["batches"]
    if invocation.as_json:
        typer.echo(json.dumps(batches))
        return
    for batch in batches:
        typer.echo(
            f"{batch['batchId']}  {batch['organizationId']}  pending {batch['pending']}"
            f"  age {batch['ageSeconds']} s  driven again {batch['sweeps']} times"
        )
    note(f"{len(batches)} batches are overdue")


@command(app)
def sweep(invocation: Invocation, stack: Stack = "autotune", region: Region = None) -> None:
    """Sweep now instead of at the next full minute; print what was done, in batches."""
    _show_counts(invocation, _call("SweepBatches", {}, stack=stack, region=region))


@command(app)
def redrive(invocation: Invocation, stack: Stack = "autotune", region: Region = None) -> None:
    """Move dead letters back to their queues; print how many of each queue moved."""
    moved = _call("RedriveDeadLetters", {}, stack=stack, region=region)["moved"]
    _show_counts(invocation, moved)


def _show_counts(invocation: Invocation, counts: dict[str, int]) -> None:
    if invocation.as_json:
        typer.echo(json.dumps(counts))
        return
    for name, count in counts.items():
        typer.echo(f"{name:<10} {count}")


def _call(name: str, payload: dict[str, Any], *, stack: str, region: str | None) -> dict[str, Any]:
    """Invoke one of the stack's operator functions; return what it answers."""
    try:
        import boto3.session  # noqa: PLC0415 - an extra of its own, and slow to load
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
    except ModuleNotFoundError:
        stop("this command needs boto3: pip install 'autotune-sdk[operator]'")
    try:
        session = boto3.session.Session(region_name=region)
        function = _function_name(session, stack, f"{name}FunctionName")
        return _invoke(session, function, payload)
    except ClientError as error:
        _stop_refused(error, stack)
    except BotoCoreError as error:
        _stop_unconnected(error)


def _function_name(session: "Session", stack: str, output_key: str) -> str:
    described = session.client("cloudformation").describe_stacks(StackName=stack)
    outputs = {
        output.get("OutputKey"): output.get("OutputValue")
        for output in described["Stacks"][0].get("Outputs", [])
    }
    function = outputs.get(output_key)
    if function is None:
        stop(f"stack {stack} has no output {output_key}", exit_codes.NOT_FOUND)
    return function


def _invoke(session: "Session", function: str, payload: dict[str, Any]) -> dict[str, Any]:
    answer = session.client("lambda").invoke(
        FunctionName=function, Payload=json.dumps(payload).encode()
    )
    said = answer["Payload"].read()
    if "FunctionError" in answer:
        stop(f"{function} failed: {_error_message(said)}", exit_codes.UNAVAILABLE)
    try:
        read = json.loads(said)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        stop(f"{function} did not answer with a JSON object", exit_codes.UNAVAILABLE)
    return read


def _error_message(payload: bytes) -> str:
    try:
        failure = json.loads(payload)
    except ValueError:
        return "no reason given"
    if not isinstance(failure, dict):
        return "no reason given"
    return " ".join(str(failure.get("errorMessage", "no reason given")).split())


def _stop_refused(error: "ClientError", stack: str) -> NoReturn:
    reason = error.response["Error"]
    message = reason.get("Message", "no reason given")
    if reason.get("Code") in _DENIED_CODES:
        stop(f"AWS refused: {message}", exit_codes.DENIED)
    if reason.get("Code") == "ValidationError" and "does not exist" in message:
        stop(f"there is no stack {stack}; give --stack and --region", exit_codes.NOT_FOUND)
    stop(f"AWS failed: {message}", exit_codes.UNAVAILABLE)


def _stop_unconnected(error: "BotoCoreError") -> NoReturn:
    from botocore.exceptions import (  # noqa: PLC0415 - an extra of its own
        CredentialRetrievalError,
        NoCredentialsError,
        NoRegionError,
        PartialCredentialsError,
    )

    if isinstance(error, NoRegionError):
        stop("no AWS region: give --region or set AWS_DEFAULT_REGION")
    if isinstance(error, NoCredentialsError | PartialCredentialsError | CredentialRetrievalError):
        stop(f"no AWS credentials: {error}", exit_codes.DENIED)
    stop(f"AWS cannot be reached: {error}", exit_codes.UNAVAILABLE)
