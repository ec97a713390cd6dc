"""``client.sessions``: a key lends its role to a browser, for some hours."""

from typing import Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.protocol import limits, sessions

_created = returning(sessions.CreateSessionResponse)
_session = returning(sessions.SessionResponse, lambda answer: answer.session)
_sessions = returning(sessions.SessionList, lambda page: (page.sessions, page.next_token))


def create_session(
    *,
    name: str | None = None,
    expires_in_minutes: int = limits.DEFAULT_SESSION_MINUTES,
    **options: Unpack[CallOptions],
) -> Call[sessions.CreateSessionResponse]:
    """Make a session of the console; its ``url`` opens it once, within five minutes.

    Args:
        name: what it is called in lists; that of the key without it.
        expires_in_minutes: when it ends, 5 to 720; it ends with the key at the latest.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        PermissionDeniedError: a session signs, which makes no sessions.
        ConflictError: key or organisation made as many in these twelve hours as it may.
    """
    request = request_of(
        sessions.CreateSessionRequest, name=name, expires_in_minutes=expires_in_minutes
    )
    return call("POST", "sessions", read=_created, body=request, **options)


def list_sessions(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[sessions.Session]:
    """Walk through sessions, the oldest first: an admin's organisation's, others' principal's.

    Those that ended are left out a week after their time.

    Args:
        page_size: sessions fetched at a time, 1 to 200.
    """
    return listing("sessions", read=_sessions, page_size=page_size, **options)


def revoke_session(session_id: str, **options: Unpack[CallOptions]) -> Call[sessions.Session]:
    """End a session, for good.

    Raises:
        NotFoundError: there is no such session that the caller may end.
    """
    return call("DELETE", "sessions", session_id, read=_session, **options)


class SessionMethods:
    """Methods of sessions of the console."""

    create = Method(create_session)
    list = ListMethod(list_sessions)
    revoke = Method(revoke_session)


class Sessions(SessionMethods, Resource):
    """Sessions of the console, blocking."""


class AsyncSessions(SessionMethods, AsyncResource):
    """Sessions of the console, for an event loop."""
