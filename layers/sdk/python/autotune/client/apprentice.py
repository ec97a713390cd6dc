"""``client.apprentice``: what answers a task in place of the paid model."""

from autotune.client.apprentice_versions import ApprenticeVersions, AsyncApprenticeVersions
from autotune.client.binding import AsyncResource, InnerPart, Resource


class ApprenticeMethods:
    """Methods of the apprentice."""

    versions = InnerPart(ApprenticeVersions, AsyncApprenticeVersions)


class Apprentice(ApprenticeMethods, Resource):
    """The apprentice, blocking."""


class AsyncApprentice(ApprenticeMethods, AsyncResource):
    """The apprentice, for an event loop."""
