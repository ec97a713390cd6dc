"""Which connections an organisation may have something use that it makes now."""

from autotune_platform.ledger.connections import ConnectionRepository
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part


@part
class UsableConnections:
    """Says whether an organisation may use a connection, before something is made to use it."""

    repository: ConnectionRepository

    def require(self, organization_id: str, connection_id: str, *, field: str) -> None:
        """Require that a connection is the organisation's, and not revoked.

        Raises:
            InvalidRequestError: it is not.
        """
        try:
            connection = self.repository.get_of(organization_id, connection_id)
        except NotFoundError as error:
            raise InvalidRequestError.of_field(
                field,
                "a connection of this organisation",
                detail="no such connection in this organisation",
            ) from error
        if connection.status == "revoked":
            raise InvalidRequestError.of_field(field, "a connection that is not revoked")
