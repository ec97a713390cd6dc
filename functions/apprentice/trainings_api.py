"""Trainings of tasks' small models: begun, and what became of them."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Path

from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingList,
    ApprenticeTrainingResponse,
)
from autotune.protocol.limits import MAX_APPRENTICE_TRAININGS
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.wire import training_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.apprentice_training import TrainingApiEnvironment
from autotune_platform.wiring.apprentice_training import TrainingApiParts

TrainingNumber = Annotated[int, Path(ge=1, le=MAX_APPRENTICE_TRAININGS)]
_TRAININGS = "/api/v1/apprentice/tasks/<task_name>/trainings"


@cache
def parts() -> TrainingApiParts:
    """Return what this process is put together from."""
    return TrainingApiParts(TrainingApiEnvironment.parse())


app = Api(parts)


@app.post(_TRAININGS, status_code=202, tags=["apprentice"])
def start_apprentice_training(task_name: str) -> ApprenticeTrainingResponse:
    """Begin a training from the examples that there are; a task has one at a time."""
    training = parts().trainings.start(app.caller, task_name)
    app.made(apprentice_task_id=training.task_id, apprentice_training_id=training.id)
    return _shown(training)


@app.get(_TRAININGS, tags=["apprentice"])
def list_apprentice_trainings(
    task_name: str, limit: PageSize = 50, next_token: NextToken = None
) -> ApprenticeTrainingList:
    """List a task's trainings, newest first."""
    found, token = parts().trainings.list(app.caller, task_name, limit=limit, next_token=next_token)
    money = parts().training_money.set_aside(*found)
    return ApprenticeTrainingList(
        trainings=[training_on_wire(one, set_aside=money[one.number]) for one in found],
        next_token=token,
    )


@app.get(f"{_TRAININGS}/<number>", tags=["apprentice"])
def read_apprentice_training(task_name: str, number: TrainingNumber) -> ApprenticeTrainingResponse:
    """Return one training: its data, its test, and what came of it."""
    return _shown(parts().trainings.get(app.caller, task_name, number))


@app.post(f"{_TRAININGS}/<number>/cancel", tags=["apprentice"])
def cancel_apprentice_training(
    task_name: str, number: TrainingNumber
) -> ApprenticeTrainingResponse:
    """Have a training ended; where a job trains, that is stopped first."""
    found = parts().trainings.cancel(app.caller, task_name, number)
    app.made(apprentice_task_id=found.task_id, apprentice_training_id=found.id)
    return _shown(found)


@app.post(f"{_TRAININGS}/<number>/host", status_code=202, tags=["apprentice"])
def host_apprentice_training(task_name: str, number: TrainingNumber) -> ApprenticeTrainingResponse:
    """Begin a training that hosts and judges what an earlier one made and could not have hosted."""
    training = parts().trainings.host(app.caller, task_name, number)
    app.made(apprentice_task_id=training.task_id, apprentice_training_id=training.id)
    return _shown(training)


def _shown(training: Training) -> ApprenticeTrainingResponse:
    money = parts().training_money.set_aside(training)
    shown = training_on_wire(training, set_aside=money[training.number])
    return ApprenticeTrainingResponse(training=shown)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
