"""Ending a key together with what it made."""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from autotune.client import AutotuneClient


@dataclass(frozen=True)
class Gone:
    """What was revoked or, as webhooks are, deleted."""

    what: str
    id: str


def revoke_with_made(client: AutotuneClient, key_id: str) -> Iterator[Gone]:
    """Revoke a key, and then what it made and what keys that it made have made.

    Yields each when it is gone. What fails half-way is repeated safely. The key that signs these
    calls goes last, if it is one of them.

    Raises:
        NotFoundError: there is no such key in this organisation.
        PermissionDeniedError: the calling key may not revoke keys.
    """
    own = client.keys.me().id
    if key_id != own:
        client.keys.revoke(key_id)  # first: from now on it makes nothing more
        yield Gone("key", key_id)
    makers = {key_id}
    for key in client.keys.list():  # the oldest first, so that a maker comes before what it made
        if key.created_by in makers:
            makers.add(key.id)
            if key.status == "active" and key.id != own:
                client.keys.revoke(key.id)
                yield Gone("key", key.id)
    yield from _revoke_doors(client, makers)
    if own in makers:
        client.keys.revoke(own)
        yield Gone("key", own)


def _revoke_doors(client: AutotuneClient, makers: Set[str]) -> Iterator[Gone]:
    for url in list(client.reward_urls.list()):
        if url.created_by in makers and url.state == "active":
            client.reward_urls.revoke(url.id)
            yield Gone("reward URL", url.id)
    for webhook in list(client.webhooks.list()):
        if webhook.created_by in makers:
            client.webhooks.delete(webhook.id)
            yield Gone("webhook", webhook.id)
    for link in list(client.reviews.links()):
        if link.created_by in makers and link.status == "active":
            client.reviews.revoke_link(link.id)
            yield Gone("review link", link.id)
    yield from _revoke_spending(client, makers)


def _revoke_spending(client: AutotuneClient, makers: Set[str]) -> Iterator[Gone]:
    for token in list(client.llm.tokens.list()):
        if token.created_by in makers and token.state == "active":
            client.llm.tokens.revoke(token.id)
            yield Gone("token", token.id)
    for connection in list(client.llm.connections.list()):
        if connection.created_by in makers and connection.status != "revoked":
            client.llm.connections.revoke(connection.id)
            yield Gone("connection", connection.id)
