"""The audit log."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import AwareDatetime

from autotune.protocol.access import PrincipalId
from autotune.protocol.audit import AuditAction, AuditEntryList
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.audit import AuditEnvironment
from autotune_platform.wiring.audit import AuditListingParts


@cache
def parts() -> AuditListingParts:
    """Return what this process is put together from."""
    return AuditListingParts(AuditEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/audit", tags=["audit"])
def list_audit_entries(
    since: Annotated[AwareDatetime | None, Query(alias="from")] = None,
    until: Annotated[AwareDatetime | None, Query(alias="to")] = None,
    principal_id: Annotated[PrincipalId | None, Query(alias="principalId")] = None,
    action: Annotated[AuditAction | None, Query()] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> AuditEntryList:
    """List what was called and decided in the organisation, the newest first.

    From ``from`` (by default a day before ``to``) until before ``to`` (by default now), at most 90
    days back. A page may be short, even empty, while ``nextToken`` says that there is more.
    """
    entries, token = parts().audit_listing.page(
        app.caller,
        since=since,
        until=until,
        principal_id=principal_id,
        action=action,
        limit=limit,
        next_token=next_token,
    )
    return AuditEntryList(entries=entries, next_token=token)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
