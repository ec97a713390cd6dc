"""``python -m tests.chaos_ledger.mutations``: does it notice when a guard of the ledger is gone?

Each mutation takes one guard out of a copy of the repository and plays rounds there, with as few
requests as find it in several seeds. Ends with 1 where a run did not end with 1, or found something
else than it should.
"""

import sys

from tests.chaos.mutations import Mutation, run_all

_FEW = ("--rounds", "2", "--requests", "240")
"""Each of these rounds finds it."""

_DENSE = ("--seed", "1", "--rounds", "6", "--requests", "1800", "--providers", "openai")
"""About each third of these finds it: few connections, so that batches and writes meet."""

_LEDGER = "layers/platform/python/autotune_platform/ledger"

MUTATIONS = (
    Mutation(
        "the condition of a row's write",
        f"{_LEDGER}/row_repository.py",
        """            {**changes, "updated_at": now},
            was={"status": row.status, "attempt": row.attempt},""",
        """            {**changes, "updated_at": now},
            was={},""",
        "each row ends once",
        _DENSE,
    ),
    Mutation(
        "the search for orphans",
        f"{_LEDGER}/batching/creating.py",
        "        found = provider.search(session, job_of(batch))\n",
        "        found = [] if state.nonce else provider.search(session, job_of(batch))\n",
        "no batch at the fake is unknown",
        _FEW,
    ),
    Mutation(
        "the lease of creations",
        f"{_LEDGER}/batching/creating.py",
        "if not self.creations.take(batch, now, until=now + _LEASE):",
        "if not self.creations.take(batch, now, until=now + _LEASE) and now is None:",
        "one creation of a connection at a time",
        _DENSE,
    ),
    Mutation(
        "the ban on creating again",
        f"{_LEDGER}/batching/creating.py",
        "        made = provider.create(session, job_of(begun), body)\n",
        "        made = provider.create(session, job_of(begun), body)\n"
        "        if not isinstance(made, (Created, NotCreated)):\n"
        "            body = self.files.body(batch.id, INPUT, state_of(begun).bytes)\n"
        "            made = provider.create(session, job_of(begun), body)\n",
        "no batch at the fake is unknown",
        _FEW,
    ),
)


def main() -> int:
    """Run every mutation, return the exit code."""
    return run_all(MUTATIONS, ["tests.chaos_ledger"])


if __name__ == "__main__":
    sys.exit(main())
