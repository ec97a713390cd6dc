"""Waiting for requests to language models, any number of them, each answered in its own time."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Unpack

from autotune.client.calls import Call, CallOptions, call, returning
from autotune.client.errors import WaitTimeoutError
from autotune.client.exchange import Course, Pause, Plan, Session
from autotune.client.llm_gathering import gathered
from autotune.protocol.limits import MAX_WAIT_SECONDS
from autotune.protocol.llm_requests import ENDED_LLM_STATUSES, LlmRequest, LlmRequestResponse

_SHORT_HOLD_SECONDS = 1
_WATCHED_HOLD_SECONDS = 10
_GAP_SECONDS = 0.2
_LONGEST_GAP_SECONDS = 5.0

_request = returning(LlmRequestResponse, lambda answer: answer.request)


def get_request(
    request_id: str, *, wait: int = 0, **options: Unpack[CallOptions]
) -> Call[LlmRequest]:
    """Read a request with its texts and its attempts.

    Args:
        wait: seconds that the server may hold the call until the request has ended, 0 to 20.

    Raises:
        NotFoundError: there is no such request in this organisation.
    """
    return call("GET", "llm-requests", request_id, read=_request, wait=wait, **options)


class AwaitedRequests:
    """Requests whose ends are waited for, one look at a time.

    The server holds each look at the first that is pending; one that does not end meanwhile goes
    behind the others. So those that end one after the other come with one call each, and one that
    does not end for long keeps none of the others. Where a request was asked again because its
    verdict cannot be read, the one that came of it is waited for in its place.
    """

    def __init__(
        self,
        request_ids: Iterable[str],
        *,
        timeout: float | None,
        deadline: float,
        extra_headers: Mapping[str, str] | None,
        follow_reasks: bool,
        on_reask: Callable[[LlmRequest], None] | None,
        on_pending: Callable[[LlmRequest], None] | None,
    ) -> None:
        """Take the ids, each once.

        Args:
            deadline: until when they are waited for, which was ``timeout`` seconds away.
            follow_reasks: whether the last is meant of those that are asked again.
            on_reask: gets each that is not the last.
            on_pending: gets each that a look finds pending; a look is held for 10 seconds then.
        """
        self.ids = list(request_ids)
        # Which id was given, and which stands for it now.
        self._pending = deque((one, one) for one in dict.fromkeys(self.ids))
        self._follows = follow_reasks
        self._on_reask = on_reask
        self._on_pending = on_pending
        self._longest_hold = MAX_WAIT_SECONDS if on_pending is None else _WATCHED_HOLD_SECONDS
        self._timeout = timeout
        self._deadline = deadline
        self._extra_headers = extra_headers
        self._gap = _GAP_SECONDS
        self._looks = 0
        self._last_looks: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Whether all have ended."""
        return not self._pending

    def next_ended(self, session: Session) -> Course[tuple[str, LlmRequest]]:
        """Return the next request that has ended, with the id that was given for it.

        Raises:
            WaitTimeoutError: the time is up, and none of the others has ended by now.
            NotFoundError: one of them is not in this organisation.
        """
        while True:
            given, request_id = self._pending[0]
            asked_at = time.monotonic()
            hold = self._hold(asked_at)
            asked = get_request(request_id, wait=hold, extra_headers=self._extra_headers)
            request = yield from session.course(asked)
            self._pending.popleft()
            if request.status in ENDED_LLM_STATUSES and not (self._follows and request.reask_due):
                self._looks = 0
                self._gap = _GAP_SECONDS
                if not self._follows or request.reasked_as is None:
                    return given, request
                if self._on_reask is not None:
                    self._on_reask(request)
                self._pending.append((given, request.reasked_as))
                continue
            self._pending.append((given, request_id))
            self._looks += 1
            if self._on_pending is not None:
                self._on_pending(request)
            now = time.monotonic()
            if asked_at >= self._deadline:
                self._last_looks.add(request_id)
                if self._last_looks.issuperset(one for _, one in self._pending):
                    raise self._timed_out()
            elif now - asked_at <= hold / 2:
                # The API answers at once where too many of an organisation's reads wait.
                self._gap = min(2 * self._gap, _LONGEST_GAP_SECONDS)
                yield Pause(max(0.0, min(self._gap, self._deadline - now)))

    def _timed_out(self) -> WaitTimeoutError:
        count = len(self._pending)
        return WaitTimeoutError(f"{count} requests were still pending after {self._timeout:g} s")

    def _hold(self, now: float) -> int:
        """Return how long the next look may take: not long before all others were looked at."""
        longest = self._longest_hold if self._looks >= len(self._pending) else _SHORT_HOLD_SECONDS
        return math.ceil(min(longest, max(0.0, self._deadline - now)))


def awaiting(
    request_ids: Iterable[str] | None,
    *,
    import_id: str | None,
    batch_id: str | None,
    timeout: float | None,
    follow_reasks: bool,
    on_reask: Callable[[LlmRequest], None] | None,
    on_pending: Callable[[LlmRequest], None] | None,
    extra_headers: Mapping[str, str] | None,
) -> Plan[AwaitedRequests]:
    """Return the requests that are to be waited for; the time runs from now.

    Raises:
        InvalidInputError: not just one of ids, import and batch is given, or one id and no list.
    """
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    gather = gathered(
        request_ids,
        import_id=import_id,
        batch_id=batch_id,
        follow_reasks=follow_reasks,
        deadline=deadline,
        timeout=timeout,
        extra_headers=extra_headers,
    )

    def begin(session: Session) -> Course[AwaitedRequests]:
        ids = yield from gather(session)
        return AwaitedRequests(
            ids,
            timeout=timeout,
            deadline=deadline,
            extra_headers=extra_headers,
            follow_reasks=follow_reasks,
            on_reask=on_reask,
            on_pending=on_pending,
        )

    return begin


def wait_for_requests(
    request_ids: Iterable[str] | None = None,
    *,
    import_id: str | None = None,
    batch_id: str | None = None,
    timeout: float | None = None,
    follow_reasks: bool = True,
    on_reask: Callable[[LlmRequest], None] | None = None,
    on_pending: Callable[[LlmRequest], None] | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[list[LlmRequest]]:
    """Wait until requests have ended; return them in the order of the ids, with their texts.

    ``results`` returns any number of them one by one. Where ``onParseFailure`` had a request asked
    again, the last one that came of it stands in its place; ``first_request_id`` names the first.

    Args:
        request_ids: either these, or ``import_id``, or ``batch_id``.
        import_id: waits for the end of this import, too; see ``request_ids`` for which are its.
        batch_id: all that this batch was made for, wherever they went.
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.
        follow_reasks: False returns just the requests whose ids are given.
        on_reask: gets each request that was asked again, of which another stands in the result;
            each has a cost of its own.
        on_pending: gets each request that a look finds pending, with its ``waiting_because``.

    Raises:
        InvalidInputError: not just one of ids, import and batch is given.
        WaitTimeoutError: some were still pending after ``timeout``.
        NotFoundError: one of them is not in this organisation, or the import is over 7 days old.
    """
    begin = awaiting(
        request_ids,
        import_id=import_id,
        batch_id=batch_id,
        timeout=timeout,
        follow_reasks=follow_reasks,
        on_reask=on_reask,
        on_pending=on_pending,
        extra_headers=extra_headers,
    )

    def wait(session: Session) -> Course[list[LlmRequest]]:
        awaited = yield from begin(session)
        ended: dict[str, LlmRequest] = {}
        while not awaited.is_over:
            given, request = yield from awaited.next_ended(session)
            ended[given] = request
        return [ended[request_id] for request_id in awaited.ids]

    return wait
