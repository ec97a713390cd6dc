"""Create an organisation and its first admin key, for an operator with AWS credentials."""

from functools import cache
from typing import Any

from pydantic import ValidationError

from autotune.protocol.access import CreateOrganizationResponse, Key, Organization
from autotune.protocol.types import Name, RequestModel
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.wiring.access import ApiParts


class CreateOrganizationRequest(RequestModel):
    """The event: the new organisation's name."""

    name: Name


@cache
def parts() -> ApiParts:
    """Return what this process is put together from."""
    return ApiParts(Environment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Create the organisation; the credential is returned this once.

    Raises:
        ValueError: the event is not ``{"name": "…"}``.
    """
    try:
        request = CreateOrganizationRequest.model_validate(event)
    except ValidationError as error:
        raise ValueError('expected {"name": "1 to 200 characters"}') from error
    organization, key, api_key = parts().access.create_organization(request.name)
    response = CreateOrganizationResponse(
        organization=Organization.model_validate(organization, from_attributes=True),
        key=Key.model_validate(key, from_attributes=True),
        api_key=api_key,
    )
    return response.model_dump(mode="json", by_alias=True)
