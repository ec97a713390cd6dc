"""``client.apprentice``: what answers a task in place of the paid model."""

from autotune.client.apprentice_reports import (
    get_apprentice_estimate,
    get_apprentice_report,
    get_apprentice_status,
)
from autotune.client.binding import AsyncResource, Method, Resource


class ApprenticeMethods:
    """Methods of the apprentice."""

    status = Method(get_apprentice_status)
    report = Method(get_apprentice_report)
    estimate = Method(get_apprentice_estimate)


class Apprentice(ApprenticeMethods, Resource):
    """The apprentice, blocking."""


class AsyncApprentice(ApprenticeMethods, AsyncResource):
    """The apprentice, for an event loop."""
