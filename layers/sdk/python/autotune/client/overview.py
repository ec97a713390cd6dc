"""``client.overview``: what the organisation's completions came to, and what holds them up."""

from typing import Unpack

from autotune.client.binding import AsyncResource, Method, Resource
from autotune.client.calls import Call, CallOptions, call, returning
from autotune.protocol import overview
from autotune.protocol.windows import Window

_overview = returning(overview.OverviewResponse, lambda answer: answer.overview)


def get_overview(
    *, window: Window = "24h", **options: Unpack[CallOptions]
) -> Call[overview.Overview]:
    """Read counts over time, what is open, open circuits, overdue batches and the budget.

    Figures follow verdicts by seconds. What nothing was counted of is None, and never 0.

    Args:
        window: how far back: ``1h`` (by five minutes), ``24h``, ``7d`` (both by the hour) or
            ``30d`` (by the day).

    Raises:
        PermissionDeniedError: only who may read all completions sees it.
    """
    return call("GET", "overview", read=_overview, query={"window": window}, **options)


class OverviewMethods:
    """Methods of the overview."""

    get = Method(get_overview)


class Overview(OverviewMethods, Resource):
    """The overview, blocking."""


class AsyncOverview(OverviewMethods, AsyncResource):
    """The overview, for an event loop."""
