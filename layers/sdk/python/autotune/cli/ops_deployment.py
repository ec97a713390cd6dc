"""A deployment as operators reach it: with AWS credentials, by the outputs of its stack."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import stop

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


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Where Autotune runs."""

    stack: Annotated[str, typer.Option(help="Name of the deployed stack.")] = "autotune"
    region: Annotated[
        str | None, typer.Option(help="AWS region; else what boto3 finds configured.")
    ] = None

    def call(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Invoke one of the stack's operator functions; return its answer."""
        with self.session() as session:
            return self.call_in(session, name, payload)

    def call_in(self, session: "Session", name: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Do the same within a session."""
        return _invoke(session, self.output(session, f"{name}FunctionName"), payload)

    def output(self, session: "Session", key: str) -> str:
        """Return an output of the stack."""
        described = session.client("cloudformation").describe_stacks(StackName=self.stack)
        outputs = {
            output.get("OutputKey"): output.get("OutputValue")
            for output in described["Stacks"][0].get("Outputs", [])
        }
        found = outputs.get(key)
        if found is None:
            stop(f"stack {self.stack} has no output {key}", exit_codes.NOT_FOUND)
        return found

    @contextmanager
    def session(self) -> "Iterator[Session]":
        """Provide a session; what AWS refuses ends the command."""
        try:
            import boto3.session  # noqa: PLC0415 - an extra of its own, and slow to load
            from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
        except ModuleNotFoundError:
            stop("this command needs boto3: pip install 'autotune-sdk[operator]'")
        try:
            yield boto3.session.Session(region_name=self.region)
        except ClientError as error:
            _stop_refused(error, self.stack)
        except BotoCoreError as error:
            _stop_unconnected(error)


def _invoke(session: "Session", function: str, payload: dict[str, Any]) -> dict[str, Any]:
    answer = session.client("lambda").invoke(
        FunctionName=function, Payload=json.dumps(payload).encode()
    )
    try:
        content = json.loads(answer["Payload"].read())
    except ValueError:
        content = None
    if "FunctionError" in answer:
        message = "no reason given"
        if isinstance(content, dict):
            message = " ".join(str(content.get("errorMessage", message)).split())
        stop(f"{function} failed: {message}", exit_codes.UNAVAILABLE)
    if not isinstance(content, dict):
        stop(f"{function} did not answer with a JSON object", exit_codes.UNAVAILABLE)
    return content


def _stop_refused(error: "ClientError", stack: str) -> NoReturn:
    reason = error.response["Error"]
    message = reason.get("Message", "no reason given")
    if reason.get("Code") in _DENIED_CODES:
        stop(f"AWS refused: {message}", exit_codes.DENIED)
    if reason.get("Code") == "ValidationError" and "does not exist" in message:
        stop(f"there is no stack {stack}; give --stack and --region", exit_codes.NOT_FOUND)
    stop(f"AWS failed: {message}", exit_codes.UNAVAILABLE)


def _stop_unconnected(error: "BotoCoreError") -> NoReturn:
    from botocore import exceptions  # noqa: PLC0415 - an extra of its own

    if isinstance(error, exceptions.NoRegionError):
        stop("no AWS region: give --region or set AWS_DEFAULT_REGION")
    no_credentials = (exceptions.NoCredentialsError, exceptions.PartialCredentialsError)
    if isinstance(error, (*no_credentials, exceptions.CredentialRetrievalError)):
        stop(f"no AWS credentials: {error}", exit_codes.DENIED)
    stop(f"AWS cannot be reached: {error}", exit_codes.UNAVAILABLE)
