"""An index never changes under its name, because DynamoDB cannot change one that exists."""

import hashlib

from infra import tables
from infra.tables import Index, TableSchema

DIGESTS = {
    "registry.byCollection": "99e083ab43bd",
    "completions.scoresByTask": "910b3c1d12e1",
    "completions.openBatches": "b0ac35f5f131",
    "completions.runsByState": "1107a6c7b286",
    "completions.reviewsByState": "e0fe6b14cad6",
    "completions.batchesByTime": "f87b3d420692",
    "deliveries.deliveriesByTime": "e04b23575eb0",
    "deliveries.dueDeliveries": "6767e18a2f78",
    "ledger.rowsByStatus": "65f5489480a5",
    "ledger.queuedRows": "34791291a799",
    "ledger.dueBatches": "b0ac35f5f131",
    "decks.byCollection": "99e083ab43bd",
    "decks.dueDecks": "b0ac35f5f131",
    "apprentice.dueRuns": "b0ac35f5f131",
}
RULE = """
The keys or the projection of an index changed. DynamoDB can change neither of an index that exists:
CloudFormation fails, and MiniStack and moto do not show it. An update of a table creates or deletes
one index at most. So give the index a new name, named after its version, beside the old one; deploy
one index at a time; move the reader over when the new index is filled; then delete the old one
(docs/architecture.md, "A filter of GET /scores"). Where the index has a new name, or no
installation has the old one, renew DIGESTS in tests/unit/platform/test_tables.py:

"""


def digest(index: Index) -> str:
    """Return a digest of what DynamoDB cannot change of an index: order is free."""
    attributes = index.attributes
    projected = attributes if isinstance(attributes, str) else ",".join(sorted(attributes))
    text = f"{index.partition_key} {index.sort_key} {projected}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def digests() -> dict[str, str]:
    """Return the digest of each index, by table and name."""
    return {
        f"{table.lower()}.{index.name}": digest(index)
        for table, schema in vars(tables).items()
        if isinstance(schema, TableSchema)
        for index in schema.indexes
    }


def test_no_index_changes_under_its_name() -> None:
    found = digests()
    renewed = "\n".join(f'    "{name}": "{value}",' for name, value in found.items())
    assert found == DIGESTS, f"{RULE}DIGESTS = {{\n{renewed}\n}}"


def test_a_change_of_keys_or_projection_shows() -> None:
    index = Index("byTask", "task", "time", ("state", "value"))
    others = [
        Index("byTask", "model", "time", ("state", "value")),
        Index("byTask", "task", "score", ("state", "value")),
        Index("byTask", "task", "time", ("state", "value", "batch")),
        Index("byTask", "task", "time", "all"),
        Index("byTask", "task", "time"),
    ]
    assert len({digest(one) for one in [index, *others]}) == 6
    assert digest(Index("byTask", "task", "time", ("value", "state"))) == digest(index)
