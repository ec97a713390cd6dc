"""Additional models: other paid ones that are asked what a pair was made of.

Their answers are rows of the ledger, to be compared and never truth. A run needs none of them: they
are asked after it, while the budget has room, and what a killed worker left out stays out. The run
names each row in the transaction that reserves for it, so that each model is asked once.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.routing import Remote
from autotune_platform.apprentice.runs.callers import caller_of
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.prompting import remote_question
from autotune_platform.apprentice.runs.remotely import TO_BOOK_SECONDS
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.ledger.apprenticed import Apprenticed, NotOpenedError
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.calls import Outcome
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime.errors import (
    BudgetExhaustedError,
    CallsHaltedError,
    InvalidRequestError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition

logger = Logger()

PURPOSE: Final = "apprentice_additional"
"""Costs of additional models are listed by it."""


def models_for(run: Run, document: Mapping[str, Any]) -> Mapping[int, Mapping[str, Any]]:
    """Return the models that a run is still to be put to, by place.

    There are none where chance made no pair of it, or its texts are deleted.
    """
    if run.erased_at is not None:
        return {}
    if run.remote is not Remote.ANSWERED or not any(pair.is_drawn for pair in run.pairs):
        return {}
    asked = enumerate(document["remote"]["additional"])
    return {place: model for place, model in asked if place not in run.additional}


@part
class AdditionalAsking:
    """Asks additional models."""

    calls: LedgerCalls
    runs: RunRepository
    connections: UsableConnections

    def ask(
        self, run: Run, document: Mapping[str, Any], *, seconds_left: Callable[[], float]
    ) -> None:
        """Ask those that were not asked, as far as time and money last.

        Raises:
            UnavailableError: a store is busy.
        """
        for place, model in models_for(run, document).items():
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
                    of=self._noted(run, place),
                )
            except NotOpenedError:
                continue  # it was asked before
            except (BudgetExhaustedError, CallsHaltedError):
                return
            except InvalidRequestError as error:
                logger.info("an additional model was not asked", run_id=run.id, reason=error.detail)

    def _noted(self, run: Run, place: int) -> Apprenticed:
        def opening(row: Row) -> list[Addition]:
            return [self.runs.asking_additional(run, place, row.id)]

        def closing(row: Row, _: Outcome) -> list[Addition]:
            return self.runs.paying_additional(run, row.cost_nano_usd)

        return Apprenticed(run.task_id, run.id, opening, closing)
