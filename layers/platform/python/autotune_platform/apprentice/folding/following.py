"""What follows changes of the apprentice's table: ended runs, new rules, versions that changed."""

from collections.abc import Sequence
from typing import get_args

from autotune_platform.apprentice.configuration.items import CONFIGURATION
from autotune_platform.apprentice.folding.items import VERSION
from autotune_platform.apprentice.folding.refolding import Refolding
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.apprentice.folding.tallies import CHECKS_ENDED
from autotune_platform.apprentice.runs.handing_over import RunQueue
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
    """Counts runs as the stream brings them, and has answers checked that chance chose."""

    folding: RunFolding
    queue: RunQueue

    def follow(self, changes: Sequence[Change]) -> None:
        """Count the runs of some changes.

        Those to be checked are sent before they are counted: whoever is killed in between sends
        them again, and the worker checks each once.

        Raises:
            UnavailableError: others kept counting runs of the same task; follow them again.
        """
        runs = [run_from(change.new) for change in changes]
        checked = {run.id for run in runs if run.check in CHECKS_ENDED}
        due = (run for run in runs if run.check == "due" and run.id not in checked)
        self.queue.send_many(due)
        self.folding.count(runs)


@part
class RuleFollowing:
    """Has pairs folded anew where a task's rules or versions changed."""

    refolding: Refolding

    def follow(self, changes: Sequence[Change]) -> None:
        """Have the pairs of the tasks folded that changes are of.

        Raises:
            UnavailableError: others kept writing the same evidence; follow them again.
        """
        for task_id in dict.fromkeys(change.pk for change in changes):
            self.refolding.follow(task_id)
