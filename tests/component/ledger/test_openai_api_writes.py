"""What a program with a token writes of the ledger: imports, their rows, and how many there are.

The function's role may write nothing else; these tests see what it writes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

import pytest
from botocore.client import BaseClient

from tests.infra.permissions import EXPECTED
from tests.support.compatible import Compatible
from tests.support.imports import Imports, openai_line
from tests.support.ledger import Ledger

_OF_PARTS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}


def written_in(operation: str, asked: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield operation, table and partition key of each item that a request writes."""
    if operation == "TransactWriteItems":
        for part in asked["TransactItems"]:
            for kind, one in part.items():
                if kind in _OF_PARTS:
                    yield from written_in(_OF_PARTS[kind], one)
    elif operation in _OF_PARTS.values():
        item = asked.get("Item") or asked["Key"]
        key = item["pk"]
        yield operation, asked["TableName"], key["S"] if isinstance(key, dict) else key
    elif operation == "BatchWriteItem":
        raise AssertionError("its items have no grant of their own")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Any:
    sound = BaseClient._make_api_call

    @contextmanager
    def watching() -> Iterator[set[tuple[str, str]]]:
        found: set[tuple[str, str]] = set()

        def watched(self: Any, operation: str, asked: Any) -> Any:
            if self.meta.service_model.service_name == "dynamodb":
                for each, table, key in written_in(operation, asked):
                    if table == "ledger":
                        found.add((each, key))
            return sound(self, operation, asked)

        with monkeypatch.context() as patched:
            patched.setattr(BaseClient, "_make_api_call", watched)
            yield found

    return watching


def test_nothing_else_of_the_ledger_is_written(
    ledger: Ledger, imports: Imports, written: Any
) -> None:
    compatible = Compatible(ledger, imports)
    granted = {
        (action.removeprefix("dynamodb:"), keys)
        for action, table, keys in EXPECTED["OpenAiApi"]
        if table == "Ledger" and keys
    }
    with written() as begun:
        asked = compatible.begin(openai_line("a"), openai_line("b"))
        early = compatible.begin(openai_line("c"))
        compatible.ask("POST", f"/batches/{early['id']}/cancel")
    compatible.take_in()
    with written() as ended:
        compatible.ask("POST", f"/batches/{asked['id']}/cancel")
        compatible.ask("GET", f"/batches/{asked['id']}")
    seen = begun | ended
    used = {(each, keys) for each, key in seen for keys in _patterns(granted, each, key)}
    strange = [one for one in seen if not list(_patterns(granted, *one))]
    assert strange == []
    assert used == granted, "what is granted is written here"


def _patterns(granted: set[tuple[str, str]], operation: str, key: str) -> Iterator[str]:
    return (keys for each, keys in granted if each == operation and fnmatchcase(key, keys))
