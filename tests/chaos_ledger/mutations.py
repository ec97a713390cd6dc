"""``python -m tests.chaos_ledger.mutations``: does it notice when a guard of the ledger is gone?

Each mutation takes one guard out of a copy of the repository and plays rounds there, with fewer
requests. Ends with 1 where a run did not end with 1, or found something else than it should.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.chaos.mutations import INSTALLED, LEFT_OUT, PACKAGES, ROOT, Mutation, mutate

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


def run_mutated(mutation: Mutation, *, requests: int) -> tuple[int, str]:
    """Play rounds without a guard; return the exit code and what was printed."""
    with tempfile.TemporaryDirectory(prefix="autotune-mutation-") as folder:
        root = Path(folder) / "repository"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for name in INSTALLED:
            (root / name).symlink_to(ROOT / name)
        mutate(root, mutation)
        asked = ["--requests", str(requests), "--rounds", str(ROUNDS)]
        finished = subprocess.run(
            [sys.executable, "-m", "tests.chaos_ledger", *asked],
            cwd=root,
            # Before what is installed from the repository itself.
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([*(str(root / one) for one in PACKAGES), str(root)]),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    return finished.returncode, finished.stdout


def main() -> int:
    """Run every mutation, print who found it, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    arguments = parser.parse_args()
    missed = 0
    for mutation in MUTATIONS:
        print(f"without {mutation.name} ...", flush=True)
        code, printed = run_mutated(mutation, requests=arguments.requests)
        said = [line for line in printed.splitlines() if line.startswith("violated:")]
        is_found = code == 1 and any(mutation.invariant in line for line in said)
        missed += not is_found
        print("\n".join(said) if is_found else printed)
        print(f"without {mutation.name}: {'found' if is_found else 'MISSED'}, exit code {code}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
