"""The operator's path: the first organization and its admin key."""

import json
import secrets

import httpx
from pydantic import ValidationError

from autotune.protocol.access import CreateOrganizationResponse
from autotune.protocol.signing import sign_api_request
from local.endpoint import lambda_client
from local.records import LocalProfile

OWN_KEY_PATH = "/api/v1/keys/me"
# The first request also starts the function.
ANSWER_SECONDS = 60.0


class OperatorCommandError(RuntimeError):
    """The function that creates organizations failed."""


def create_organization(
    *, endpoint: str, function_name: str, name: str
) -> CreateOrganizationResponse:
    """Invokes the operators' function with AWS credentials.

    Args:
        endpoint: Where Lambda answers.
        function_name: Stack output ``CreateOrganizationFunctionName``.
        name: Name of the organization.

    Raises:
        OperatorCommandError: If the function failed or answered something else.
    """
    answer = lambda_client(endpoint).invoke(
        FunctionName=function_name, Payload=json.dumps({"name": name}).encode()
    )
    body = answer["Payload"].read()
    if "FunctionError" in answer:
        message = f"{function_name} failed: {body.decode(errors='replace')[:2000]}"
        raise OperatorCommandError(message)
    try:
        return CreateOrganizationResponse.model_validate_json(body)
    except ValidationError as error:
        message = f"{function_name} answered no organization: {error}"
        raise OperatorCommandError(message) from error


def is_key_valid(profile: LocalProfile) -> bool:
    """Whether the API takes the key of a profile."""
    key_id, _, secret = profile.api_key.partition(".")
    headers = sign_api_request(
        key_id=key_id,
        secret=secret,
        method="GET",
        path=OWN_KEY_PATH,
        query="",
        body=b"",
        request_id=secrets.token_hex(16),
    )
    answer = httpx.get(
        f"{profile.base_url}{OWN_KEY_PATH}",
        headers=headers,
        timeout=ANSWER_SECONDS,
        trust_env=False,
    )
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        return False
    answer.raise_for_status()
    return True
