"""How many times as long everything may take here: on a machine that does much else beside."""

import os

VARIABLE = "CHAOS_PATIENCE"


def patience() -> float:
    """Return it; 1 where nobody says more."""
    return float(os.environ.get(VARIABLE, "1"))
