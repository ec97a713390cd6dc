"""Execution roles: what jobs and hosts may, where somebody decides on it.

MiniStack does, with permissions enforced (``local.sagemaker_beside``). Elsewhere there is nobody,
and they act as the server does.
"""

import json
import os
import threading
from typing import Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from local.sagemaker.errors import ServiceError, validation
from local.sagemaker.records import now

ROLES_VARIABLE = "AUTOTUNE_SAGEMAKER_ROLES"
PRINCIPAL = "sagemaker.amazonaws.com"
_SESSION_SECONDS = 3600
_LEAST_SECONDS_LEFT = 600
_CONFIG = Config(s3={"addressing_style": "path"}, proxies={})

Credentials = dict[str, str]


class Roles(Protocol):
    """Who jobs and hosts are."""

    def check(self, role: str | None) -> None:
        """Raise an error for a role that SageMaker may not assume.

        Raises:
            ServiceError: It may not, or there is no such role.
        """

    def s3(self, role: str | None) -> Any:
        """Return a client of S3 that acts as a role."""

    def environment(self, role: str | None) -> Credentials:
        """Return the variables of a process that acts as a role, with where AWS is."""


class NoRoles:
    """Everybody acts as the server does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._s3: Any = None

    def check(self, role: str | None) -> None:
        """Take any."""

    def s3(self, role: str | None) -> Any:  # noqa: ARG002 - there are none
        """Return the server's own client."""
        with self._lock:
            if self._s3 is None:
                self._s3 = boto3.session.Session().client("s3", config=_CONFIG)
            return self._s3

    def environment(self, role: str | None) -> Credentials:  # noqa: ARG002 - there are none
        """Return the server's own variables."""
        return _about_aws()


class AssumedRoles:
    """Each role is assumed for an hour, and again before that is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session = boto3.session.Session()
        self._known: dict[str, tuple[float, Credentials, Any]] = {}

    def check(self, role: str | None) -> None:
        """Look at the role and at whom it trusts."""
        if role is None:
            return
        refusal = _refusal(role)
        try:
            found = self._client("iam").get_role(RoleName=role.rpartition("/")[2])["Role"]
        except ClientError as error:
            raise refusal from error
        trusted = found["AssumeRolePolicyDocument"]
        document = json.loads(trusted) if isinstance(trusted, str) else trusted
        if found["Arn"] != role or not any(map(_trusts, document["Statement"])):
            raise refusal

    def s3(self, role: str | None) -> Any:
        """Return a client of S3 that acts as a role."""
        return self._client("s3") if role is None else self._assumed(role)[2]

    def environment(self, role: str | None) -> Credentials:
        """Return the variables of a process that acts as a role."""
        return {**_about_aws(), **({} if role is None else self._assumed(role)[1])}

    def _assumed(self, role: str) -> tuple[float, Credentials, Any]:
        with self._lock:
            known = self._known.get(role)
            if known is None or known[0] < now() + _LEAST_SECONDS_LEFT:
                given = self._client("sts").assume_role(
                    RoleArn=role, RoleSessionName="SageMaker", DurationSeconds=_SESSION_SECONDS
                )["Credentials"]
                session = boto3.session.Session(
                    given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]
                )
                variables = {
                    "AWS_ACCESS_KEY_ID": given["AccessKeyId"],
                    "AWS_SECRET_ACCESS_KEY": given["SecretAccessKey"],
                    "AWS_SESSION_TOKEN": given["SessionToken"],
                }
                client = session.client("s3", config=_CONFIG)
                known = self._known[role] = (now() + _SESSION_SECONDS, variables, client)
            return known

    def _client(self, service: Any) -> Any:
        return self._session.client(service, config=_CONFIG)


def roles_of_environment() -> Roles:
    """Return assumed roles where the environment says so."""
    return AssumedRoles() if os.environ.get(ROLES_VARIABLE) else NoRoles()


def _about_aws() -> Credentials:
    return {name: value for name, value in os.environ.items() if name.startswith("AWS_")}


def _trusts(statement: dict[str, Any]) -> bool:
    principal = statement.get("Principal", {})
    services = principal.get("Service", []) if isinstance(principal, dict) else []
    named = [services] if isinstance(services, str) else services
    return statement["Effect"] == "Allow" and PRINCIPAL in named


def _refusal(role: str) -> ServiceError:
    return validation(
        f"Could not assume role {role}. Please ensure that the role exists and allows principal"
        f" '{PRINCIPAL}' to assume the role."
    )
