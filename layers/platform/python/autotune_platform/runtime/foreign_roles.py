"""Roles of other people's AWS accounts: assumed with an external id, and used to sign requests.

The requests themselves go the way of all that is sent to addresses from outside, which knows their
time-outs and sends each once; so there are no clients of these accounts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError, ClientError

from autotune.protocol.ids import new_id
from autotune_platform.runtime.clients import is_throttled

# Lambda's own credentials are those of a role, and one role assumes another for an hour at most.
_SECONDS = 3_600
_SERVERS = 500


class AssumesRoles(Protocol):
    """What is needed of a client of STS."""

    def assume_role(self, **asked: Any) -> Mapping[str, Any]:
        """Ask STS."""


class RoleRefusedError(Exception):
    """The role cannot be assumed until somebody changes it; the message says why."""


class RoleUnavailableError(Exception):
    """STS could not be asked, or failed: it may pass."""


@dataclass(frozen=True)
class RoleCredentials:
    """Credentials of a session of a role."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str = field(repr=False)
    expires_at: datetime


def assume_role(
    sts: AssumesRoles,
    *,
    role_arn: str,
    external_id: str,
    session_name: str,
    may: Sequence[Mapping[str, Any]],
) -> RoleCredentials:
    """Assume a role that demands an external id.

    A role that can be assumed without it, or with any other, is refused: whoever knows its name
    could have us use it.

    Args:
        may: statements of IAM; the session may do what these and the role both allow.

    Raises:
        RoleRefusedError: it cannot be assumed, or without this external id as well.
        RoleUnavailableError: STS cannot be asked just now.
    """
    policy = {"Version": "2012-10-17", "Statement": list(may)}
    asked = {
        "RoleArn": role_arn,
        "RoleSessionName": session_name,
        "Policy": json.dumps(policy, separators=(",", ":")),
        "DurationSeconds": _SECONDS,
    }
    if _assumed(sts, asked, is_refusal_expected=True) is not None:
        raise RoleRefusedError(
            f"{role_arn} can be assumed without an external id; its trust policy has to demand "
            f"sts:ExternalId {external_id}"
        )
    other = new_id("org")  # of the same shape: a pattern may stand in the trust policy
    if _assumed(sts, {**asked, "ExternalId": other}, is_refusal_expected=True) is not None:
        raise RoleRefusedError(
            f"{role_arn} can be assumed with any external id; its trust policy has to demand "
            f"sts:ExternalId {external_id} and no other"
        )
    found = _assumed(sts, {**asked, "ExternalId": external_id})
    assert found is not None, "a refusal that is not expected raises"
    return RoleCredentials(
        access_key_id=found["AccessKeyId"],
        secret_access_key=found["SecretAccessKey"],
        session_token=found["SessionToken"],
        expires_at=found["Expiration"],
    )


def signed_headers(
    credentials: RoleCredentials,
    *,
    service: Literal["bedrock", "s3"],
    region: str,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
) -> dict[str, str]:
    """Return headers with a signature of version 4 over them, the URL and the body.

    Args:
        body: None for one that comes in parts, of S3; TLS alone protects it then.
    """
    request = AWSRequest(method=method, url=url, headers=dict(headers), data=body or b"")
    keys = Credentials(
        credentials.access_key_id, credentials.secret_access_key, credentials.session_token
    )
    request.context["client_config"] = Config(s3={"payload_signing_enabled": body is not None})
    signer = S3SigV4Auth if service == "s3" else SigV4Auth
    signer(keys, service, region).add_auth(request)
    return dict(request.headers.items())


def _assumed(
    sts: AssumesRoles, asked: Mapping[str, Any], *, is_refusal_expected: bool = False
) -> Any:
    """Return the credentials that STS gives; None for a refusal that is expected."""
    try:
        return sts.assume_role(**asked)["Credentials"]
    except ClientError as error:
        answer = error.response
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code = answer["Error"].get("Code", "")
        if is_throttled(error) or status >= _SERVERS:
            raise RoleUnavailableError(f"STS could not assume the role: {code}") from error
        if is_refusal_expected and code == "AccessDenied":
            return None
        said = f"{code}: {answer['Error'].get('Message', '')}"
        raise RoleRefusedError(f"{asked['RoleArn']} cannot be assumed: {said}") from error
    except BotoCoreError as error:
        raise RoleUnavailableError("STS could not be reached") from error
