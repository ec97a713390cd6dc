"""In whose name a run asks: that of the key that sent it."""

from autotune.protocol.ids import new_id
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.runs.models import Run


def caller_of(run: Run) -> Caller:
    """Return a caller of the run's organisation, under an id of its own."""
    return Caller(
        key_id=run.created_by,
        organization_id=run.organization_id,
        principal_id=run.created_by,
        role="admin",
        request_id=new_id("req"),
    )
