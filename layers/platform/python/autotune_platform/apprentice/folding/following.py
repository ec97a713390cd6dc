"""What follows changes of the apprentice's table: ended runs, new rules, versions that changed."""

from collections.abc import Sequence
from typing import get_args

from autotune_platform.apprentice.configuration.items import CONFIGURATION
from autotune_platform.apprentice.folding.items import VERSION
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.apprentice.runs.items import RUN, run_from
from autotune_platform.apprentice.runs.models import RunState
from autotune_platform.runtime.parts import part
from autotune_platform.storage.changes import Change, ChangeKind

_ENDED = tuple(state for state in get_args(RunState) if state != "pending")

CHANGED_RUNS = [
    ChangeKind("INSERT", RUN),
    # Steps on the way are nobody's business: a run is listed when it begins, and when it ends.
    ChangeKind("MODIFY", RUN, among=("state", _ENDED)),
]
CHANGED_RULES = [
    ChangeKind("INSERT", CONFIGURATION),
    ChangeKind("INSERT", VERSION),
    ChangeKind("MODIFY", VERSION),
]


@part
class RunFollowing:
    """Counts runs as the stream brings them."""

    folding: RunFolding

    def follow(self, changes: Sequence[Change]) -> None:
        """Count the runs of some changes.

        Raises:
            UnavailableError: others kept counting runs of the same task; follow them again.
        """
        self.folding.count(run_from(change.new) for change in changes)


@part
class RuleFollowing:
    """Folds pairs anew where a task's rules or versions changed."""

    folding: RunFolding

    def follow(self, changes: Sequence[Change]) -> None:
        """Fold the pairs of the tasks that changes are of.

        Raises:
            UnavailableError: others kept writing the same evidence; follow them again.
        """
        for task_id in dict.fromkeys(change.pk for change in changes):
            self.folding.refold(task_id)
