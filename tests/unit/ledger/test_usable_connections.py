"""Whether a connection may be used is decided in one place, which refuses in the same words."""

from pathlib import Path

import pytest

import autotune_platform.ledger
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.usable_connections import require_usable, usable
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from tests.unit.ledger.asking import connection

LEDGER = Path(autotune_platform.ledger.__path__[0])


class One(ConnectionRepository):
    """A repository of one connection."""

    def __init__(self, there: Connection) -> None:
        self.there = there

    def get_of(self, organization_id: str, entity_id: str) -> Connection:
        if (organization_id, entity_id) != (self.there.organization_id, self.there.id):
            raise NotFoundError("no such connection")
        return self.there


@pytest.mark.parametrize(
    ("status", "may_be"), [("active", True), ("paused", True), ("revoked", False)]
)
def test_all_but_revoked_ones_may_be_used(status: str, *, may_be: bool) -> None:
    there = connection("openai", status=status)
    assert usable(there) is (there if may_be else None)
    if may_be:
        found = require_usable(One(there), there.organization_id, there.id, field="x")
        assert found is there
        return
    with pytest.raises(InvalidRequestError) as refused:
        require_usable(One(there), there.organization_id, there.id, field="a.b")
    assert [(one.field, one.expected) for one in refused.value.fields] == [
        ("a.b", "a connection that is not revoked")
    ]


def test_one_that_is_gone_may_not_be_used() -> None:
    assert usable(None) is None


def test_another_organisations_connection_is_refused_as_unknown() -> None:
    there = connection("openai")
    with pytest.raises(InvalidRequestError, match="no such connection") as refused:
        require_usable(One(there), "org_other", there.id, field="connectionId")
    assert [one.field for one in refused.value.fields] == ["connectionId"]


def test_nothing_else_of_the_ledger_asks_whether_one_is_revoked() -> None:
    asking = {
        path.name
        for path in LEDGER.rglob("*.py")
        if any(
            name in line
            for line in path.read_text().splitlines()
            for name in ('.status == "revoked"', '.status != "revoked"')
        )
    }
    assert asking == {"usable_connections.py"}
