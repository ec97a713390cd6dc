"""Parts of the process that grades, for tests that look inside."""

from autotune_platform.budgets.permits import Admission
from functions.scoring import grade_chunk


def admission() -> Admission:
    """Return what admits the grading process's calls to graders."""
    return grade_chunk.parts().admission
