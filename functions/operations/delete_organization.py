"""Delete an organisation with all that is its own, for an operator with AWS credentials."""

from functools import cache
from typing import Any

from pydantic import ValidationError

from autotune.protocol.access import Organization, OrganizationResponse
from autotune.protocol.types import RequestModel
from autotune_platform.runtime.environment.operations import DeletionEnvironment
from autotune_platform.wiring.operations import DeletionParts


class DeleteRequest(RequestModel):
    """The event: the organisation, and its name, by which nobody deletes another one."""

    organization_id: str
    name: str


@cache
def parts() -> DeletionParts:
    """Return what this process is put together from."""
    return DeletionParts(DeletionEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Delete as much as there is time for; ask again until the status is ``deleted``.

    Raises:
        ValueError: the event is not ``{"organizationId": "…", "name": "…"}``.
        NotFoundError: there is no such organisation.
        ConflictError: it is not suspended.
        InvalidRequestError: it has another name.
    """
    try:
        request = DeleteRequest.model_validate(event)
    except ValidationError as error:
        raise ValueError('expected {"organizationId": "…", "name": "…"}') from error
    found = parts().deletion.step(
        request.organization_id,
        name=request.name,
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    shown = Organization.model_validate(found, from_attributes=True)
    if found.deletion is not None:
        shown = shown.model_copy(update={"deleted_items": found.deletion.deleted})
    return OrganizationResponse(organization=shown).model_dump(mode="json", by_alias=True)
