"""Parts of the process that grades, for tests that look inside."""

from autotune_platform.budgets.permits import Permits
from functions.scoring import grade_chunk


def permits() -> Permits:
    """Return what permits the grading process's calls to graders."""
    return grade_chunk.parts().permits
