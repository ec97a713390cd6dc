"""Keys of connections for servers of small models, which are asked outside of the ledger."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.parts import part

_PORTS = {"http": 80, "https": 443}


@part
class BearerKeys:
    """Says with which key an address may be asked."""

    repository: ConnectionRepository
    keys: ProviderKeys

    def of(self, connection_id: str, url: str) -> str | None:
        """Return a connection's key; None where it has none, is revoked, or is of another place."""
        connection = usable(self.repository.get(connection_id))
        if connection is None or misplaced(connection, url) is not None:
            return None
        return self.keys.of(connection)


def misplaced(connection: Connection, url: str) -> str | None:
    """Return what an address should be that is asked with a connection's key; None where it is.

    Whoever made the connection said where its key may go; a configuration does not widen that.
    """
    if connection.provider != "simulated":
        return "a connection of the provider simulated, whose baseUrl is of the same server"
    if _origin(url) != _origin(connection.base_url):
        return "a connection whose baseUrl has the scheme, host and port of local.url"
    parts = urlsplit(url)
    if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
        return "https in local.url, since a key is sent there"
    return None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
