"""A deck as a panel: a task in which every active grader scores that is published."""

from autotune.protocol.deck_publishing import CreateDeckTaskRequest
from autotune.protocol.limits import MAX_TASK_GRADERS
from autotune.protocol.tasks import CreateTaskRequest, GraderWeight
from autotune_platform.access.models import Caller
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.service import DeckService
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError
from autotune_platform.runtime.parts import part
from autotune_platform.tasks.models import Task
from autotune_platform.tasks.service import TaskService


@part
class DeckPanel:
    """Makes tasks of decks."""

    decks: DeckService
    graders: DeckGraderRepository
    tasks: TaskService

    def create_task(self, caller: Caller, deck_id: str, request: CreateDeckTaskRequest) -> Task:
        """Make a task with every active grader of a deck that is published, the oldest first.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            ConflictError: none of its graders is, or more than a task may have.
            InvalidRequestError: the quorum is larger than the number of graders, or a grader was
                deleted since it was published.
            GraderNotCalibratedError: one is not calibrated, and the task refuses such ones.
            TooManyEntitiesError: the organisation has as many tasks as it may.
        """
        deck = self.decks.require(caller, deck_id)
        named = [
            GraderWeight(grader_id=one.published.grader_id)
            for one in self.graders.list(deck_id)
            if one.status == "active" and one.published is not None
        ]
        if not named:
            raise ConflictError("no active grader of this deck is published; publish one first")
        if len(named) > MAX_TASK_GRADERS:
            raise ConflictError(
                f"{len(named)} active graders of this deck are published, and a task has at most "
                f"{MAX_TASK_GRADERS}; make one of POST /api/v1/tasks"
            )
        if request.quorum > len(named):
            raise InvalidRequestError.of_field(
                "quorum", f"at most the number of published graders, {len(named)}"
            )
        task = CreateTaskRequest(
            name=request.name or deck.name,
            description=f"By the graders of deck {deck.id}",
            graders=named,
            aggregation=request.aggregation,
            quorum=request.quorum,
            deadline_seconds=request.deadline_seconds,
            uncalibrated=request.uncalibrated,
        )
        return self.tasks.create(caller, task)
