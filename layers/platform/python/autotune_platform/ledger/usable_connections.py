"""Which connections may be used: those of the organisation that are not revoked.

One that is paused may be: what asks through it waits.
"""

from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.models import Connection
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part


@part
class UsableConnections:
    """Says whether an organisation may use a connection, before something is made to use it."""

    repository: ConnectionRepository

    def require(self, organization_id: str, connection_id: str, *, field: str) -> Connection:
        """Return a connection, which has to be the organisation's, and not revoked.

        Raises:
            InvalidRequestError: it is not.
        """
        return require_usable(self.repository, organization_id, connection_id, field=field)


def usable(connection: Connection | None) -> Connection | None:
    """Return a connection that may be used; None where it is gone or revoked."""
    return None if connection is None or connection.status == "revoked" else connection


def require_usable(
    repository: ConnectionRepository, organization_id: str, connection_id: str, *, field: str
) -> Connection:
    """Return an organisation's connection that something is to be made for.

    Args:
        field: what names it, as an error shows it.

    Raises:
        InvalidRequestError: it is not the organisation's, or revoked.
    """
    try:
        connection = repository.get_of(organization_id, connection_id)
    except NotFoundError as error:
        raise InvalidRequestError.of_field(
            field,
            "a connection of this organisation",
            detail="no such connection in this organisation",
        ) from error
    if usable(connection) is None:
        raise InvalidRequestError.of_field(field, "a connection that is not revoked")
    return connection
