"""``python -m tests.chaos.spending_mutations``: is it noticed when a guard of money is gone?

Each mutation takes one guard out of a copy of the repository and has the suite ``spending`` find
out there. Ends with 1 where it did not.
"""

import sys

from tests.chaos.mutations import Mutation, run_all

CALLS = 100
_PLATFORM = "layers/platform/python/autotune_platform"

SPENDING_MUTATIONS = (
    Mutation(
        "the room that a reservation needs",
        f"{_PLATFORM}/budgets/money.py",
        "at_most=bounds.at_most,",
        "at_most={},",
        "bill ≤ committed ≤ limit",
    ),
    Mutation(
        "the note that a call is settled",
        f"{_PLATFORM}/ledger/batch_repository.py",
        "            only_if=_UNSETTLED,\n",
        "            only_if={},\n",
        "periods spent what their calls cost",
    ),
    Mutation(
        "the one transaction of a reservation that is asked for again",
        f"{_PLATFORM}/budgets/money.py",
        "planned = unclear or self._planned(scopes, amount, what_for)",
        "planned = self._planned(scopes, amount, (lambda _: []) if unclear else what_for)",
        "nothing stays set aside",
    ),
)


def main() -> int:
    """Run every mutation, return the exit code."""
    return run_all(SPENDING_MUTATIONS, ["tests.chaos", "spending", "--calls", str(CALLS)])


if __name__ == "__main__":
    sys.exit(main())
