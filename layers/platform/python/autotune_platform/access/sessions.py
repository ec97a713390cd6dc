"""Sessions of the console: made by a key, exchanged once by a browser, listed and revoked.

A session begins with a code of 256 random bits in the fragment of a URL, which browsers send to
nobody. Whoever exchanges the code gets the secret of the session. If that is done twice, somebody
else has the code, so that the session ends.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from autotune.protocol.ids import is_id, new_id
from autotune.protocol.problems import LimitProblem
from autotune.protocol.sessions import CreateSessionRequest
from autotune_platform.access.models import Caller, Person, Scope, Session
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.access.service import AccessService
from autotune_platform.access.session_repository import SessionRepository
from autotune_platform.access.signers import Signers, maker_of
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ForbiddenError,
    NotFoundError,
    TooManyEntitiesError,
    UnauthenticatedError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import encode_cursor

logger = Logger()

CODE_WORKS = timedelta(minutes=5)

_CODE_BYTES = 32
# One key makes no more than this share of an organisation's: a reviewer's that got about is not to
# keep everybody else out of the console until the twelve hours are over.
_MAKERS_SHARE = 10
_FEWEST_OF_MAKER = 10
# What others made must not have one request read all of an organisation's.
_MOST_QUERIES = 5
_FILTERED_PAGE = 200
_NOBODYS = hashlib.sha256(b"").hexdigest()


@part
class SessionService:
    """Makes sessions and ends them.

    Attributes:
        base_url: what ``/console`` hangs below, without a slash at its end.
    """

    access: AccessService
    repository: SessionRepository
    signers: Signers
    secrets: DerivedSecrets
    base_url: str
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: CreateSessionRequest) -> tuple[Session, str]:
        """Make a session of the caller's key; return it and the URL that opens it once.

        Raises:
            ForbiddenError: the caller is in a session itself.
            TooManyEntitiesError: the key, or its organisation, made as many in these twelve hours
                as it may.
        """
        if caller.session_id is not None:
            raise ForbiddenError("a session makes no sessions; sign with a key")
        key = self.access.get_key(caller, caller.key_id)
        now = self.clock.now()
        self._count(caller, caller.key_id, now)
        code = secrets.token_urlsafe(_CODE_BYTES)
        ends = now + timedelta(minutes=request.expires_in_minutes)
        session = Session(
            id=new_id("ses"),
            organization_id=caller.organization_id,
            name=request.name or key.name,
            role=caller.role,
            principal_id=caller.principal_id,
            key_id=key.id,
            created_at=now,
            code_sha256=_hashed(code),
            code_until=now + CODE_WORKS,
            valid_until=ends if key.expires_at is None else min(ends, key.expires_at),
        )
        self.repository.add(session)
        return session, f"{self.base_url}/console#code={session.id}.{code}"

    def prove(self, code: str) -> Session:
        """Return the session that a code is of, whatever became of it since.

        Raises:
            UnauthenticatedError: it is of none. Nothing was written.
        """
        session_id, _, random = code.partition(".")
        session = self.repository.get(session_id) if is_id("ses", session_id) else None
        kept = session.code_sha256 if session is not None else None
        if not hmac.compare_digest(_hashed(random), kept or _NOBODYS) or kept is None:
            raise _not_accepted()
        assert session is not None
        return session

    def exchange(self, session: Session, *, request_id: str) -> tuple[Session, str]:
        """Begin a session whose code was proven; return it and its secret, once.

        A second time ends the session instead: whose browser has it cannot be known.

        Raises:
            UnauthenticatedError: the code was used before or is too old, or the key has ended.
            OrganizationSuspendedError, TooManyRequestsError: as ``AccessService.admit``.
        """
        now = self.clock.now()
        if session.status == "active":
            self._end(session)
            logger.warning("code of a session used again", session_id=session.id)
            raise _not_accepted()
        key = self.signers.keys.get(session.key_id or "")
        is_open = key is not None and key.status_at(now) == "active"
        if session.status_at(now) != "pending" or not is_open:
            raise _not_accepted()
        self.access.admit(_caller(session, request_id))
        begun = self.repository.exchange(session, now)
        if begun is None:
            self._end(session)
            logger.warning("code of a session used twice at once", session_id=session.id)
            raise _not_accepted()
        return begun, self._secret_of(begun)

    def begin(
        self, person: Person, *, code: str, lasts: timedelta, request_id: str
    ) -> tuple[Session, str]:
        """Begin a session of a person who signed in at a provider; return it and its secret.

        Args:
            code: the provider's authorization code, which begins no second one.

        Raises:
            UnauthenticatedError: the code was used before, or there is no such organisation.
            OrganizationSuspendedError, TooManyRequestsError: as ``AccessService.admit``.
            TooManyEntitiesError: the organisation made as many in these twelve hours as it may.
        """
        now = self.clock.now()
        session = Session(
            id=new_id("ses"),
            organization_id=person.organization_id,
            name=person.name,
            role=person.role,
            principal_id=person.principal_id,
            issuer=person.issuer,
            status="active",
            created_at=now,
            exchanged_at=now,
            valid_until=now + lasts,
        )
        admitted = self.access.admit(_caller(session, request_id))
        if not self.repository.use_code(person.issuer, code, second=int(now.timestamp())):
            raise UnauthenticatedError("this sign-in was used before; begin another")
        self._count(admitted, person.principal_id, now)
        self.repository.add(session)
        return session, self._secret_of(session)

    def own(self, caller: Caller) -> Session:
        """Return the session that signed a request.

        Raises:
            ForbiddenError: none did.
        """
        if caller.session_id is None:
            raise ForbiddenError("a key signed this request, and no session")
        return self.repository.get_of(caller.organization_id, caller.session_id)

    def list(
        self, caller: Caller, scope: Scope, *, limit: int, next_token: str | None
    ) -> tuple[list[Session], str | None]:
        """Return a page of sessions, the oldest first: the caller's own, or the organisation's.

        A page of one's own may be short, even empty, while its token leads to more.
        """
        organization_id = caller.organization_id
        if scope == "organization":
            return self.repository.list(organization_id, limit=limit, next_token=next_token)
        found: list[Session] = []
        for _ in range(_MOST_QUERIES):
            page, following = self.repository.list(
                organization_id, limit=_FILTERED_PAGE, next_token=next_token
            )
            for session in page:
                if session.principal_id == caller.principal_id:
                    found.append(session)
                    if len(found) == limit:
                        return found, encode_cursor(session.id)
            next_token = following
            if next_token is None:
                break
        return found, next_token

    def standing(self, sessions: Sequence[Session]) -> Sequence[Session]:
        """Return sessions as they stand: revoked with the keys that made them."""
        key_ids = {one.key_id for one in sessions if one.key_id and one.status != "revoked"}
        revoked = self.signers.keys.revoked(key_ids)
        return [
            one.model_copy(update={"status": "revoked"}) if one.key_id in revoked else one
            for one in sessions
        ]

    def last_uses(self, sessions: Iterable[Session]) -> dict[str, datetime]:
        """Return when sessions were last used, by id, as far as they were; to within an hour."""
        return self.repository.last_uses(sessions)

    def revoke_own(self, caller: Caller) -> Session:
        """End the session that signed a request.

        Raises:
            ForbiddenError: none did.
        """
        return self._end(self.own(caller))

    def revoke(self, caller: Caller, scope: Scope, session_id: str) -> Session:
        """End a session for good; revoking twice is fine.

        Raises:
            NotFoundError: there is none, or it is not the caller's to revoke.
        """
        session = self.repository.get_of(caller.organization_id, session_id)
        if scope == "own" and session.principal_id != caller.principal_id:
            raise NotFoundError(f"no session {session_id}")
        return self._end(session)

    def _count(self, caller: Caller, maker: str, now: datetime) -> None:
        most = caller.limits.sessions
        of_maker = min(most, max(_FEWEST_OF_MAKER, most // _MAKERS_SHARE))
        full = self.repository.count_made(
            caller.organization_id,
            maker,
            at_most=most,
            of_maker=of_maker,
            second=int(now.timestamp()),
        )
        if full is None:
            return
        kind = "key" if is_id("key", maker) else "person"
        whose, name, maximum = (
            ("organization", "sessions", most)
            if full == "organization"
            else (kind, f"sessions of a {kind}", of_maker)
        )
        raise TooManyEntitiesError(
            f"the {whose} has made {maximum} sessions in these twelve hours",
            limit=LimitProblem(name=name, maximum=maximum, unit="sessions", actual=maximum),
        )

    def _secret_of(self, session: Session) -> str:
        return self.secrets.derive("api-key", session.id, session.secret_version)

    def _end(self, session: Session) -> Session:
        ended = self.repository.revoke(session.organization_id, session.id)
        self.signers.forget(session.id)
        return ended


def _caller(session: Session, request_id: str) -> Caller:
    """Return who is to have a session, for what counts requests by caller."""
    return Caller(
        key_id=maker_of(session),
        session_id=session.id,
        organization_id=session.organization_id,
        principal_id=session.principal_id,
        role=session.role,
        request_id=request_id,
    )


def _hashed(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _not_accepted() -> UnauthenticatedError:
    """Return what is answered to every code that opens nothing, in the same words."""
    return UnauthenticatedError("the code is not valid; `autotune console` makes another")
