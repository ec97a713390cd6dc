"""``python -m tests.chaos_ledger.mutations``: does it notice when a guard of the ledger is gone?

Each mutation takes one guard out of a copy of the repository and plays rounds there, with fewer
requests. Ends with 1 where a run did not end with 1, or found something else than it should.
"""

import argparse
import sys

from tests.chaos.mutations import Mutation, run_all

REQUESTS, ROUNDS = 2_000, 2
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
    ),
    Mutation(
        "the search for orphans",
        f"{_LEDGER}/batching/creating.py",
        "        found = provider.search(session, job_of(batch))\n",
        "        found = [] if state.nonce else provider.search(session, job_of(batch))\n",
        "no batch at the fake is unknown",
    ),
    Mutation(
        "the lease of creations",
        f"{_LEDGER}/batching/creating.py",
        "if not self.creations.take(batch, now, until=now + _LEASE):",
        "if not self.creations.take(batch, now, until=now + _LEASE) and now is None:",
        "one creation of a connection at a time",
    ),
    Mutation(
        "the ban on creating again",
        f"{_LEDGER}/batching/creating.py",
        "        made = provider.create(session, job_of(begun), body)\n",
        "        made = provider.create(session, job_of(begun), body)\n"
        "        if not isinstance(made, (Created, NotCreated)):\n"
        "            body = self.files.body(batch.id, INPUT, state_of(begun).bytes)\n"
        "            made = provider.create(session, job_of(begun), body)\n",
        "no row is in two live batches",
    ),
)


def main() -> int:
    """Run every mutation, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    arguments = parser.parse_args()
    asked = ["--requests", str(arguments.requests), "--rounds", str(ROUNDS)]
    return run_all(MUTATIONS, ["tests.chaos_ledger", *asked])


if __name__ == "__main__":
    sys.exit(main())
