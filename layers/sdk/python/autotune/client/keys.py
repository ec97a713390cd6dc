"""``client.keys``: who may call."""

from autotune.client.binding import (
    AsyncListMethod,
    AsyncMethod,
    AsyncResource,
    ListMethod,
    Method,
    Resource,
)
from autotune.client.calls import (
    Call,
    Listing,
    body_of,
    page_parameters,
    path_to,
    request_of,
    returning,
)
from autotune.protocol.access import (
    CreateKeyRequest,
    CreateKeyResponse,
    Key,
    KeyList,
    KeyResponse,
    Role,
)

_key = returning(KeyResponse, lambda answer: answer.key)


def create_key(
    *, name: str, role: Role, principal_id: str | None = None
) -> Call[CreateKeyResponse]:
    """Create an API key; it is in the answer, this once.

    Args:
        principal_id: what its holder registers is ``own`` to every key with the same one; without
            it the key stands for itself.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        PermissionDeniedError: only an ``admin`` creates keys.
    """
    request = request_of(CreateKeyRequest, name=name, role=role, principal_id=principal_id)
    return Call(
        method="POST",
        path=path_to("keys"),
        body=body_of(request),
        read=returning(CreateKeyResponse, lambda answer: answer),
    )


def list_keys(*, page_size: int | None = None) -> Listing[Key]:
    """Walk through the organisation's keys, revoked ones included.

    Args:
        page_size: keys fetched at a time, 1 to 200.
    """
    return Listing(
        path=path_to("keys"),
        parameters=page_parameters(page_size),
        read=returning(KeyList, lambda page: (page.keys, page.next_token)),
    )


def get_own_key() -> Call[Key]:
    """Read the key that signs this call."""
    return Call(method="GET", path=path_to("keys", "me"), read=_key)


def revoke_key(key_id: str) -> Call[Key]:
    """Revoke a key, for good.

    Raises:
        NotFoundError: there is no such key in this organisation.
    """
    return Call(method="DELETE", path=path_to("keys", key_id), read=_key)


class Keys(Resource):
    """API keys, blocking."""

    create = Method(create_key)
    list = ListMethod(list_keys)
    me = Method(get_own_key)
    revoke = Method(revoke_key)


class AsyncKeys(AsyncResource):
    """API keys, for an event loop."""

    create = AsyncMethod(create_key)
    list = AsyncListMethod(list_keys)
    me = AsyncMethod(get_own_key)
    revoke = AsyncMethod(revoke_key)
