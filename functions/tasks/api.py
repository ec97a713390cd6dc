"""Tasks."""

from functools import cache
from typing import Any

from autotune.protocol.tasks import CreateTaskRequest, TaskList, TaskResponse, UpdateTaskRequest
from autotune.protocol.tasks import Task as WireTask
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.tasks.models import Task
from autotune_platform.wiring.tasks import TaskApiParts


@cache
def parts() -> TaskApiParts:
    """Return what this process is put together from."""
    return TaskApiParts(Environment.parse())


app = Api(parts)


@app.post("/api/v1/tasks", status_code=201, tags=["tasks"])
def create_task(body: CreateTaskRequest) -> TaskResponse:
    """Create a task; its graders must be verified."""
    task = parts().tasks.create(app.caller, body)
    app.made(task_id=task.id)
    return TaskResponse(task=_on_wire(task))


@app.get("/api/v1/tasks", tags=["tasks"])
def list_tasks(
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> TaskList:
    """List the organisation's tasks, oldest first."""
    tasks, token = parts().tasks.list(app.caller, limit=limit, next_token=next_token)
    return TaskList(tasks=[_on_wire(task) for task in tasks], next_token=token)


@app.get("/api/v1/tasks/<task_id>", tags=["tasks"])
def read_task(task_id: str) -> TaskResponse:
    """Return one task."""
    return TaskResponse(task=_on_wire(parts().tasks.get(app.caller, task_id)))


@app.patch("/api/v1/tasks/<task_id>", tags=["tasks"])
def update_task(task_id: str, body: UpdateTaskRequest) -> TaskResponse:
    """Change a task; completions that were submitted before keep their graders."""
    return TaskResponse(task=_on_wire(parts().tasks.update(app.caller, task_id, body)))


@app.delete("/api/v1/tasks/<task_id>", status_code=204, tags=["tasks"])
def delete_task(task_id: str) -> None:
    """Delete a task; its completions and verdicts stay."""
    parts().tasks.delete(app.caller, task_id)


def _on_wire(task: Task) -> WireTask:
    return WireTask.model_validate(task, from_attributes=True)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
