"""One AWS session for all tests: moto forgets between them, and sessions and clients need not."""

from functools import cache
from typing import Any

import boto3

from tests.support.granted import RUNNING
from tests.support.lent_clients import LentClients
from tests.support.tables import answer_here


class SharedSession(boto3.Session):
    """Makes each client that is asked for without options once.

    Such are the tests' own. The platform has others, in each test as if they were new.
    """

    def client(self, service_name: str, **options: Any) -> Any:  # type: ignore[override]
        """Return a client."""
        if any(value is not None for value in options.values()):
            return super().client(service_name, **options)
        return self._shared(service_name)

    @cache  # noqa: B019 - there is one session, for as long as there are tests
    def resource(self, service_name: str) -> Any:  # type: ignore[override]
        """Return a resource, which is tests' own: to make one takes longer than what it is for."""
        return super().resource(service_name)

    @cache  # noqa: B019 - as above
    def _shared(self, service_name: str) -> Any:
        return super().client(service_name)


@cache
def shared_session() -> SharedSession:
    """Return the session; what functions ask of AWS through it is looked up in their grants."""
    session = SharedSession()
    session.events.register("provide-client-params", RUNNING.note)
    answer_here(session.events)
    return session


@cache
def lent_clients() -> LentClients:
    """Return what makes the platform's clients, and has them again after each test."""
    return LentClients(shared_session()._session)
