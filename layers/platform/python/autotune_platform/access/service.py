"""Keys: who is calling, and what the caller may do."""

from collections.abc import Iterable
from datetime import datetime

from aws_lambda_powertools import Logger
from cachetools import TTLCache

from autotune.protocol.access import CreateKeyRequest
from autotune.protocol.ids import new_id
from autotune.protocol.limits import SIGNATURE_TOLERANCE_SECONDS
from autotune.protocol.signing import KEY_HEADER, SignatureError, verify_api_request
from autotune_platform.access.models import (
    PERMISSIONS,
    Action,
    Caller,
    Key,
    Organization,
    Resource,
    Scope,
    Signer,
)
from autotune_platform.access.rates import RequestRates
from autotune_platform.access.repository import AccessRepository
from autotune_platform.access.requests import SignedRequest
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.access.signers import Signers, maker_of, session_of
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import (
    ForbiddenError,
    InvalidRequestError,
    OrganizationSuspendedError,
    ReplayedRequestError,
    StaleRequestError,
    UnauthenticatedError,
)

logger = Logger()

_CACHED = 1_024
_CACHED_SECONDS = 30
_USE_NOTED_SECONDS = 3_600


class AccessService:
    """Authenticates requests, and manages an organisation's keys."""

    def __init__(
        self,
        *,
        repository: AccessRepository,
        signers: Signers,
        secrets: DerivedSecrets,
        rates: RequestRates,
    ) -> None:
        self._repository = repository
        self._signers = signers
        self._secrets = secrets
        self._rates = rates
        self._organizations: TTLCache[str, Organization] = TTLCache(_CACHED, _CACHED_SECONDS)
        self._noted: TTLCache[str, bool] = TTLCache(_CACHED, _USE_NOTED_SECONDS)

    def claimed_key(self, request: SignedRequest) -> Signer | None:
        """Return the key or session that a request names, of any status; nothing is proven yet."""
        return self._signers.find(request.headers.get(KEY_HEADER, ""))

    def authenticate(self, key: Signer | None, request: SignedRequest) -> Caller:
        """Return who sent a request.

        Args:
            key: what the request names, from ``claimed_key``.

        Raises:
            UnauthenticatedError: unsigned, or signed by no active key or session.
            StaleRequestError: signed more than 300 s ago, or ahead.
            ReplayedRequestError: the key used this request id before.
        """
        if not request.headers.get(KEY_HEADER):
            raise UnauthenticatedError(f"{KEY_HEADER} is missing")
        now = SYSTEM_CLOCK.now()
        # What is unknown, revoked or expired has no secret: its requests are refused as those with
        # a wrong signature are, in the same words and at the same step. So ids cannot be tried out.
        active = key if key is not None and self._signers.may_sign(key, now) else None
        secrets = (
            [self._secrets.derive("api-key", active.id, active.secret_version)] if active else []
        )
        try:
            request_id = verify_api_request(
                request.headers,
                secrets=secrets,
                method=request.method,
                path=request.path,
                query=request.query,
                body=request.body,
                now=now.timestamp(),
            )
        except SignatureError as error:
            if error.fault == "stale":
                raise StaleRequestError(str(error)) from error
            raise UnauthenticatedError(str(error)) from error
        assert active is not None, "nothing verifies without a secret"
        second = int(now.timestamp())
        fresh = self._repository.use_request_id(
            active.id, request_id, now=second, until=second + 2 * SIGNATURE_TOLERANCE_SECONDS
        )
        if not fresh:
            raise ReplayedRequestError(
                "each attempt needs its own x-autotune-request-id; Idempotency-Key repeats safely"
            )
        self._note_use(active, now)
        return Caller(
            key_id=maker_of(active),
            session_id=session_of(active),
            organization_id=active.organization_id,
            principal_id=active.principal_id,
            role=active.role,
            request_id=request_id,
        )

    def require_active(self, caller: Caller) -> None:
        """Require that what signed a request is active as stored now, whatever was read before.

        Who makes what opens doors, such as a key, must not do so with one that was revoked.

        Raises:
            UnauthenticatedError: key or session was revoked, or has expired.
        """
        if not self._signers.may_still_sign(caller, SYSTEM_CLOCK.now()):
            raise UnauthenticatedError("the key is not active")

    def create_organization(self, name: str) -> tuple[Organization, Key, str]:
        """Create an organisation with its first admin key; return both and the key's credential."""
        now = SYSTEM_CLOCK.now()
        organization = Organization(id=new_id("org"), name=name, created_at=now)
        self._repository.add_organization(organization)
        key, api_key = self._add_key(
            organization.id,
            CreateKeyRequest(name="first admin key", role="admin"),
            created_by=None,
            at_most=organization.limits.keys,
        )
        return organization, key, api_key

    def admit(self, caller: Caller) -> Caller:
        """Admit a request of somebody who is known; return who it is, with what they may ask for.

        Whether the organisation is suspended, and its limits, are as they were half a minute ago.

        Raises:
            OrganizationSuspendedError: an operator suspended the organisation.
            TooManyRequestsError: the key or its organisation sends too many in a second.
        """
        organization = self._organization(caller.organization_id)
        if organization.status != "active":
            raise OrganizationSuspendedError(
                f"organization {organization.id} is suspended; ask who operates this installation"
            )
        admitted = caller.model_copy(update={"limits": organization.limits})
        self._rates.take(admitted)
        return admitted

    def organizations(self, *, after: str | None, limit: int) -> list[Organization]:
        """Return organisations in order of their creation, from that after an id on."""
        return self._repository.list_organizations(after=after, limit=limit)

    def create_key(self, caller: Caller, request: CreateKeyRequest) -> tuple[Key, str]:
        """Create a key in the caller's organisation; return it and its credential.

        Raises:
            InvalidRequestError: it would have expired already.
        """
        if request.expires_at is not None and request.expires_at <= SYSTEM_CLOCK.now():
            raise InvalidRequestError.of_field("expiresAt", "a moment in the future")
        return self._add_key(
            caller.organization_id,
            request,
            created_by=caller.key_id,
            at_most=caller.limits.keys,
        )

    def rename_key(self, caller: Caller, key_id: str, name: str) -> Key:
        """Give a key another name.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self._repository.rename(caller.organization_id, key_id, name)

    def last_uses(self, keys: Iterable[Key]) -> dict[str, datetime]:
        """Return when keys were last used, by id, as far as they were; to within an hour."""
        return self._repository.last_uses(key.id for key in keys)

    def get_key(self, caller: Caller, key_id: str) -> Key:
        """Return a key of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self._repository.get_of(caller.organization_id, key_id)

    def list_keys(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[Key], str | None]:
        """Return a page of the organisation's keys, oldest first."""
        return self._repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def revoke_key(self, caller: Caller, key_id: str) -> Key:
        """Revoke a key for good; revoking twice is fine.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        revoked = self._repository.revoke(caller.organization_id, key_id)
        self._signers.forget(key_id)
        return revoked

    def _organization(self, organization_id: str) -> Organization:
        found = self._organizations.get(organization_id)
        if found is None:
            found = self._repository.get_organization(organization_id)
            if found is None:
                raise UnauthenticatedError("the organization is gone")
            self._organizations[organization_id] = found
        return found

    def _note_use(self, signer: Signer, now: datetime) -> None:
        """Note that a key or session is in use, once an hour in each process: it costs a write."""
        if signer.id in self._noted:
            return
        self._noted[signer.id] = True
        try:
            self._signers.note_use(signer, now)
        except REFUSALS:
            logger.exception("use of a key not noted", key_id=signer.id)

    def _add_key(
        self,
        organization_id: str,
        request: CreateKeyRequest,
        *,
        created_by: str | None,
        at_most: int,
    ) -> tuple[Key, str]:
        key_id = new_id("key")
        key = Key(
            id=key_id,
            organization_id=organization_id,
            name=request.name,
            role=request.role,
            principal_id=request.principal_id or key_id,
            status="active",
            created_at=SYSTEM_CLOCK.now(),
            created_by=created_by,
            expires_at=request.expires_at,
        )
        self._repository.add(key, at_most=at_most)
        return key, f"{key_id}.{self._secrets.derive('api-key', key_id, key.secret_version)}"


def permitted_scope(caller: Caller, resource: Resource, action: Action) -> Scope:
    """Return how far the caller's role lets it do ``action`` on ``resource``.

    Raises:
        ForbiddenError: not at all.
    """
    scope = PERMISSIONS[caller.role].get((resource, action))
    if scope is None:
        raise ForbiddenError(f"the role {caller.role} may not {action} {resource}")
    return scope
