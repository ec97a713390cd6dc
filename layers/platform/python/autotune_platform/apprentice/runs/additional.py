"""Additional models: other paid ones that are asked what a pair was made of.

Their answers are rows of the ledger, to be compared and never truth. A run needs none of them: they
are asked after it, while the budget has room, and what a killed worker left out stays out. The id
of each row follows from the run, so that each is asked once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from aws_lambda_powertools import Logger

from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.routing import Remote
from autotune_platform.apprentice.runs.callers import caller_of
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.prompting import remote_question
from autotune_platform.apprentice.runs.remotely import TO_BOOK_SECONDS
from autotune_platform.ledger.apprenticed import Apprenticed, NotOpenedError
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime.errors import (
    BudgetExhaustedError,
    CallsHaltedError,
    InvalidRequestError,
)
from autotune_platform.runtime.parts import part

logger = Logger()

PURPOSE: Final = "apprentice_additional"
"""Costs of additional models are listed by it."""


class Additional(NamedTuple):
    """An additional model that a run is, or would be, put to.

    Attributes:
        model: as it is configured.
        row_id: of the row that has its answer, if it was asked.
    """

    model: Mapping[str, Any]
    row_id: str


def additional_of(run: Run, document: Mapping[str, Any]) -> Sequence[Additional]:
    """Return the models that a run is put to besides; none where chance made no pair of it."""
    if run.remote is not Remote.ANSWERED or not any(pair.is_drawn for pair in run.pairs):
        return []
    return [
        Additional(model, derived_id("llm", run.id, model["connectionId"], model["model"]))
        for model in document["remote"]["additional"]
    ]


@part
class AdditionalAsking:
    """Asks additional models."""

    calls: LedgerCalls
    connections: UsableConnections

    def ask(
        self, run: Run, document: Mapping[str, Any], *, seconds_left: Callable[[], float]
    ) -> None:
        """Ask those that were not asked, as far as time and money last.

        Raises:
            UnavailableError: a store is busy.
        """
        for model, row_id in additional_of(run, document):
            if seconds_left() < model["timeoutS"] + TO_BOOK_SECONDS:
                return
            try:
                provider = self.connections.require(
                    run.organization_id, model["connectionId"], field="connectionId"
                ).provider
                request = remote_question(document, run, provider, model=model, purpose=PURPOSE)
                self.calls.call(
                    caller_of(run),
                    request,
                    at_most_seconds=model["timeoutS"],
                    of=Apprenticed(run.task_id, run.id, _nothing, _nothing, row_id=row_id),
                )
            except NotOpenedError:
                continue  # it was asked before
            except (BudgetExhaustedError, CallsHaltedError):
                return
            except InvalidRequestError as error:
                logger.info("an additional model was not asked", run_id=run.id, reason=error.detail)


def _nothing(*_: object) -> list[Any]:
    return []
