"""The blocking client."""

import time
from contextlib import closing
from typing import Self, TypeVar

import httpx

from autotune.client.exchange import (
    DEFAULT_MAX_RETRIES,
    DEFAULT_TIMEOUT_SECONDS,
    FETCHED_PIECE_BYTES,
    Course,
    Fetch,
    Pause,
    Reply,
    Step,
    Work,
    closed_client,
    open_session,
)
from autotune.client.parts import ClientParts

T = TypeVar("T")


class AutotuneClient(ClientParts):
    """Calls the Autotune API and blocks until it answers; safe to share between threads.

    Every method takes ``timeout`` and ``extra_headers`` for its call alone: see ``CallOptions``.

    Example:
        >>> with AutotuneClient() as client:
        ...     submitted = client.completions.submit(
        ...         task_id="task_…", model_id="m1", prompt="2 + 2 = ?", response="4"
        ...     )
        ...     verdict = client.completions.wait_for_score(submitted.completion.id, timeout=60)
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Find address and key; nothing is sent yet.

        Args:
            base_url: what ``/api/v1`` hangs below; else ``AUTOTUNE_BASE_URL``, else the nearest
                ``.autotune/local.json``.
            api_key: ``<key id>.<secret>``; else ``AUTOTUNE_API_KEY``, else the same file.
            timeout: seconds to connect and to wait for an answer; a long poll adds its own.
            max_retries: attempts after the first, where repeating is safe.
            http_client: for proxies, certificates or tests; it stays the caller's to close.

        Raises:
            ConfigurationError: address or key is missing or cannot be used.
        """
        self._session = open_session(
            base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries
        )
        self._owns_http = http_client is None
        self._http = httpx.Client() if http_client is None else http_client

    def carry_out(self, course: Course[T]) -> T:
        """Follow a course with blocking I/O to its result."""
        reply: Reply = None
        with closing(course):
            while True:
                try:
                    step = course.send(reply)
                except StopIteration as finished:
                    result: T = finished.value
                    return result
                reply = self._perform(step)

    def close(self) -> None:
        """Close the connections that this client opened.

        Every call after it raises ``InvalidInputError``.
        """
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _perform(self, step: Step) -> Reply:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, Work):
            step.do()
            return None
        try:
            if isinstance(step, Fetch):
                return self._fetch(step)
            return self._http.send(step.request(self._http), follow_redirects=False)
        except httpx.RequestError as error:
            return error
        except RuntimeError as error:
            if not self._http.is_closed:
                raise
            raise closed_client() from error

    def _fetch(self, step: Fetch) -> httpx.Response:
        response = self._http.send(step.request(), auth=None, follow_redirects=False, stream=True)
        with closing(response):
            if response.is_success:
                for piece in response.iter_raw(FETCHED_PIECE_BYTES):
                    step.take(piece)
        return response
