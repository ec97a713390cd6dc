"""Examples of the apprentice: what a small model learns from, and is judged by.

Its own function, because it reads what runs were asked and answered.
"""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.apprentice_examples import (
    ApprenticeExampleCountsResponse,
    ApprenticeExampleList,
    ImportedExamples,
)
from autotune_platform.apprentice.examples.wire import counts_on_wire, example_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.apprentice_runs import ApprenticeExampleEnvironment
from autotune_platform.wiring.apprentice_examples import ApprenticeExampleParts

Definition = Annotated[str | None, Query(alias="definitionHash", pattern="^[0-9a-f]{64}$")]
_EXAMPLES = "/api/v1/apprentice/tasks/<task_name>/examples"


@cache
def parts() -> ApprenticeExampleParts:
    """Return what this process is put together from."""
    return ApprenticeExampleParts(ApprenticeExampleEnvironment.parse())


app = Api(parts)


@app.post(_EXAMPLES, status_code=201, tags=["apprentice"])
def import_apprentice_examples(task_name: str) -> ImportedExamples:
    """Add up to 1,000 examples, a line of JSON each; a faulty line is named, the others stored.

    A line has ``input`` and ``output``. The same line again is the same example.
    """
    return parts().examples_of_tasks.bring(app.caller, task_name, app.signed_request.body)


@app.get(_EXAMPLES, tags=["apprentice"])
def list_apprentice_examples(
    task_name: str,
    definition_hash: Definition = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> ApprenticeExampleList:
    """List a definition's examples with their texts, the present one's at first.

    A page of long ones is short.
    """
    app.require_known_parameters()
    found, token = parts().examples_of_tasks.page(
        app.caller, task_name, definition_hash, limit=limit, next_token=next_token
    )
    return ApprenticeExampleList(examples=[example_on_wire(one) for one in found], next_token=token)


@app.get(f"{_EXAMPLES}/counts", tags=["apprentice"])
def count_apprentice_examples(
    task_name: str, definition_hash: Definition = None
) -> ApprenticeExampleCountsResponse:
    """Return how many examples a definition has, by selection and side; the present one's."""
    app.require_known_parameters()
    counted = parts().examples_of_tasks.counts(app.caller, task_name, definition_hash)
    return ApprenticeExampleCountsResponse(counts=counts_on_wire(counted))


@app.delete(f"{_EXAMPLES}/<example_id>", status_code=204, tags=["apprentice"])
def delete_apprentice_example(task_name: str, example_id: str) -> None:
    """Delete an example, so that nothing learns from it; its run stays."""
    parts().examples_of_tasks.delete(app.caller, task_name, example_id)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
