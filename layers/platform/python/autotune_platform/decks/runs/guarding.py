"""What keeps one row from killing each step that reads it.

A step notes nothing in the ordinary case: the write that it begins with counts it, and the one that
it ends with takes that back. After three steps of a run that never ended, the next goes row by
row, and notes the row at hand before it reads it. A row at which two steps were killed is not read
again: it has failed. What a store refuses is no kill, and takes the note back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aws_lambda_powertools import Logger

from autotune_platform.decks.runs.models import LOST_STEPS, Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.errors import AutotuneError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

logger = Logger()

_ATTEMPTS = 8


class ChangedError(Exception):
    """The run is not any more as it was read: it is read again, and gone on with."""


def as_begun(run: Run) -> dict[str, Any]:
    """Return what changes of a run with a step that begins: where the one before was killed.

    One that went row by row and was killed at none says that no row kills steps.
    """
    steps, suspects = run.steps_begun, dict(run.suspects)
    if run.at_hand is not None:
        suspects[run.at_hand] = suspects.get(run.at_hand, 0) + 1
        logger.warning("step was killed", run_id=run.id, row=run.at_hand, kills=suspects)
    elif steps > LOST_STEPS:
        logger.warning("step was killed at no row", run_id=run.id)
        steps, suspects = 0, {key: kills for key, kills in suspects.items() if run.is_killer(key)}
    return {"steps_begun": steps + 1, "at_hand": None, "suspects": suspects}


def as_ended(*, careful: bool = False) -> dict[str, Any]:
    """Return what changes of a run with a step that ends.

    Args:
        careful: whether the next step is to go row by row, too.
    """
    return {"steps_begun": LOST_STEPS if careful else 0, "at_hand": None}


def as_read(run: Run, *keys: str) -> dict[str, Any]:
    """Return what changes of a run whose rows at hand were read, or are not read any more."""
    left = {key: kills for key, kills in run.suspects.items() if key not in keys}
    return {"at_hand": None, "suspects": left}


@part
class RunGuard:
    """Notes rows at hand, and takes notes back."""

    repository: RunRepository

    def note(self, run: Run, key: str) -> Run:
        """Note that a row is about to be read; return the run as it is once that is done.

        That is stored by the next write of the run, whatever it is: a note says that a step was
        killed only where no further write came.

        Raises:
            ChangedError: the run is not any more as it was read.
        """
        noted = self._changed(run, {"at_hand": key})
        return noted.model_copy(update=as_read(noted, key))

    def release(self, run: Run) -> Run:
        """Note that what was at hand is read: who is killed now is killed by something else.

        Raises:
            ChangedError: the run is not any more as it was read.
        """
        return self._changed(run, {"at_hand": None})

    @contextmanager
    def taking_back(self, run: Run) -> Iterator[None]:
        """Take a note back where what is done ends with a refusal of a store, or of another step.

        Whoever is killed takes nothing back. A fault of what was read is a kill as well.
        """
        try:
            yield
        except (ChangedError, AutotuneError, *REFUSALS):
            if run.is_careful_next:
                self._take_back(run)
            raise

    def _changed(self, run: Run, changes: dict[str, Any]) -> Run:
        after = run.model_copy(update={**changes, "revision": run.revision + 1})
        if not self.repository.change(run, after):
            raise ChangedError
        return after

    def _take_back(self, read: Run) -> None:
        for _ in BUSY.attempts(_ATTEMPTS):
            try:
                run = self.repository.get(read.deck_id, read.id)
                if run is None or run.at_hand is None:
                    return
                free = run.model_copy(update={"at_hand": None, "revision": run.revision + 1})
                if self.repository.change(run, free):
                    return
            except (AutotuneError, *REFUSALS):
                logger.warning("note not taken back", run_id=read.id, exc_info=True)
