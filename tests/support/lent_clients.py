"""AWS clients of the platform, each for one test after the other.

A test has clients of its own, as a process has; to make one takes milliseconds, and most tests need
four. What was made for a test is given to a later one with nothing left of what happened before.
"""

import copy
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from botocore.client import BaseClient
from botocore.config import Config
from botocore.hooks import HierarchicalEmitter
from botocore.retries.standard import RetryQuotaChecker
from botocore.session import Session


class _Made:
    """A client, and who listened to its calls when it was new."""

    def __init__(self, client: BaseClient) -> None:
        self.client = client
        self._emitter: HierarchicalEmitter = client.meta.events._emitter
        self._listeners = copy.copy(self._emitter)
        handlers = self._emitter._handlers.prefix_search(
            f"after-call.{client.meta.service_model.service_id.hyphenize()}"
        )
        checkers = [getattr(handler, "__self__", None) for handler in handlers]
        self._quotas = [one._quota for one in checkers if isinstance(one, RetryQuotaChecker)]

    def renew(self) -> None:
        """Have it as it was when it was new: without listeners, and with all its retries."""
        # Who listens is looked up in another dictionary as soon as somebody else does; most tests
        # listen to nothing, and to copy the listeners takes longer than most of what they ask.
        if self._emitter._lookup_cache is not self._listeners._lookup_cache:
            vars(self._emitter).update(vars(copy.copy(self._listeners)))
        for quota in self._quotas:
            quota._available_capacity = quota._max_capacity


class LentClients:
    """Makes clients as a session does, or gives those that an earlier test had."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._idle: defaultdict[str, list[_Made]] = defaultdict(list)
        self._lent: list[tuple[str, _Made]] = []

    def create_client(self, service: str, *, config: Config) -> BaseClient:
        """Return a client that nobody else has as long as the test runs."""
        environment = [
            (name, os.environ[name]) for name in sorted(os.environ) if name.startswith("AWS_")
        ]
        kind = repr((service, config._user_provided_options, environment))
        try:
            made = self._idle[kind].pop()
        except IndexError:
            made = _Made(self._session.create_client(service, config=config))
        self._lent.append((kind, made))
        return made.client

    @contextmanager
    def for_a_test(self) -> Iterator[None]:
        """Take back at the end what was lent."""
        try:
            yield
        finally:
            for kind, made in self._lent:
                made.renew()
                self._idle[kind].append(made)
            self._lent.clear()
