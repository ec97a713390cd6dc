"""List, limit, suspend and resume organisations, for an operator with AWS credentials."""

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from autotune.protocol.access import (
    Organization,
    OrganizationLimitChanges,
    OrganizationList,
    OrganizationResponse,
)
from autotune.protocol.problems import field_problems
from autotune.protocol.types import RequestModel
from autotune_platform.access import models
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.wiring.access import ApiParts


class ListRequest(RequestModel):
    """The event that asks for organisations behind an id, in order of their creation."""

    action: Literal["list"]
    after: str | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 200


class ChangeRequest(RequestModel):
    """The event that suspends an organisation, or takes it up again."""

    action: Literal["suspend", "resume"]
    organization_id: str


class LimitRequest(RequestModel):
    """The event that sets limits of an organisation."""

    action: Literal["limit"]
    organization_id: str
    limits: OrganizationLimitChanges


Request = ListRequest | ChangeRequest | LimitRequest


@cache
def _requests() -> TypeAdapter[Request]:
    return TypeAdapter(Annotated[Request, Field(discriminator="action")])


@cache
def parts() -> ApiParts:
    """Return what this process is put together from."""
    return ApiParts(Environment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """List organisations, or change one.

    Raises:
        ValueError: the event is none of these.
        NotFoundError: there is no such organisation.
    """
    try:
        request = _requests().validate_python(event)
    except ValidationError as error:
        raise ValueError(
            'expected {"action": "list"}, {"action": "suspend" or "resume", "organizationId": …} '
            'or {"action": "limit", "organizationId": …, "limits": {…}}: '
            + "; ".join(f"{one.field}: {one.expected}" for one in field_problems(error)[:5])
        ) from error
    if isinstance(request, ListRequest):
        found = parts().access.organizations(after=request.after, limit=request.limit)
        is_full = len(found) == request.limit
        page = OrganizationList(
            organizations=[_on_wire(one) for one in found],
            next_after=found[-1].id if is_full else None,
        )
        return page.model_dump(mode="json", by_alias=True)
    organizations = parts().organizations
    if isinstance(request, LimitRequest):
        changes = request.limits.model_dump(exclude_unset=True)
        changed = organizations.set_limits(request.organization_id, changes)
    else:
        status: Literal["active", "suspended"] = (
            "suspended" if request.action == "suspend" else "active"
        )
        changed = organizations.set_organization_status(request.organization_id, status)
    return OrganizationResponse(organization=_on_wire(changed)).model_dump(
        mode="json", by_alias=True
    )


def _on_wire(organization: models.Organization) -> Organization:
    return Organization.model_validate(organization, from_attributes=True)
