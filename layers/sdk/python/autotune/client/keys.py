"""``client.keys``: who may call."""

from datetime import datetime
from typing import Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.protocol import access

_created = returning(access.CreateKeyResponse)
_key = returning(access.KeyResponse, lambda answer: answer.key)
_keys = returning(access.KeyList, lambda page: (page.keys, page.next_token))


def create_key(
    *,
    name: str,
    role: access.Role,
    principal_id: str | None = None,
    expires_at: datetime | None = None,
    **options: Unpack[CallOptions],
) -> Call[access.CreateKeyResponse]:
    """Create an API key; it is in the answer, this once.

    Args:
        principal_id: what its holder registers is ``own`` to every key with the same one; without
            it the key stands for itself.
        expires_at: when it stops working, in the future; without it, once it is revoked.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: ``expires_at`` is over.
        PermissionDeniedError: only an ``admin`` creates keys.
    """
    request = request_of(
        access.CreateKeyRequest,
        name=name,
        role=role,
        principal_id=principal_id,
        expires_at=expires_at,
    )
    return call("POST", "keys", read=_created, body=request, **options)


def list_keys(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[access.Key]:
    """Walk through the organisation's keys, revoked ones included.

    Args:
        page_size: keys fetched at a time, 1 to 200.
    """
    return listing("keys", read=_keys, page_size=page_size, **options)


def get_own_key(**options: Unpack[CallOptions]) -> Call[access.Key]:
    """Read the key that signs this call."""
    return call("GET", "keys", "me", read=_key, **options)


def rename_key(key_id: str, *, name: str, **options: Unpack[CallOptions]) -> Call[access.Key]:
    """Give a key another name.

    Raises:
        InvalidInputError: the name is out of its range; nothing was sent.
        NotFoundError: there is no such key in this organisation.
    """
    request = request_of(access.UpdateKeyRequest, name=name)
    return call("PATCH", "keys", key_id, read=_key, body=request, **options)


def revoke_key(key_id: str, **options: Unpack[CallOptions]) -> Call[access.Key]:
    """Revoke a key, for good.

    Raises:
        NotFoundError: there is no such key in this organisation.
    """
    return call("DELETE", "keys", key_id, read=_key, **options)


class KeyMethods:
    """Methods of API keys."""

    create = Method(create_key)
    list = ListMethod(list_keys)
    me = Method(get_own_key)
    rename = Method(rename_key)
    revoke = Method(revoke_key)


class Keys(KeyMethods, Resource):
    """API keys, blocking."""


class AsyncKeys(KeyMethods, AsyncResource):
    """API keys, for an event loop."""
