"""Tasks of the apprentice, versions of their configurations, and of their small models."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Path, Query

from autotune.protocol.apprentice_certificates import (
    ApprenticeCertificateKeyResponse,
    SignedApprenticeCertificateResponse,
)
from autotune.protocol.apprentice_pairs import ApprenticePairList
from autotune.protocol.apprentice_tasks import (
    ApprenticeConfigurationList,
    ApprenticeConfigurationResponse,
    ApprenticeTaskList,
    ApprenticeTaskResponse,
    PutApprenticeTaskRequest,
)
from autotune.protocol.apprentice_versions import (
    ApprenticeVersionList,
    ApprenticeVersionResponse,
    RegisterApprenticeVersion,
)
from autotune.protocol.limits import MAX_APPRENTICE_CONFIGURATIONS, MAX_APPRENTICE_VERSIONS
from autotune_platform.apprentice.configuration.models import ConfiguredTask
from autotune_platform.apprentice.configuration.wire import (
    configuration_on_wire,
    summary_on_wire,
    task_on_wire,
)
from autotune_platform.apprentice.folding.reading import pair_on_wire
from autotune_platform.apprentice.training.certifying import certificate_on_wire
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.apprentice.versions.wire import version_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.apprentice import ApprenticeApiEnvironment
from autotune_platform.wiring.apprentice import ApprenticeApiParts

OfVersion = Annotated[int, Query(ge=1, le=MAX_APPRENTICE_VERSIONS)]
ConfigurationNumber = Annotated[int, Path(ge=1, le=MAX_APPRENTICE_CONFIGURATIONS)]
VersionNumber = Annotated[int, Path(ge=1, le=MAX_APPRENTICE_VERSIONS)]
_VERSIONS = "/api/v1/apprentice/tasks/<task_name>/versions"


@cache
def parts() -> ApprenticeApiParts:
    """Return what this process is put together from."""
    return ApprenticeApiParts(ApprenticeApiEnvironment.parse())


app = Api(parts)


@app.put("/api/v1/apprentice/tasks/<task_name>", tags=["apprentice"])
def put_apprentice_task(task_name: str, body: PutApprenticeTaskRequest) -> ApprenticeTaskResponse:
    """Make a task, or give it its next configuration; one that is as it was changes nothing."""
    configured = parts().apprentice_tasks.put(app.caller, task_name, body)
    app.made(apprentice_task_id=configured.task.id)
    return ApprenticeTaskResponse(task=task_on_wire(configured))


@app.get("/api/v1/apprentice/tasks", tags=["apprentice"])
def list_apprentice_tasks(limit: PageSize = 50, next_token: NextToken = None) -> ApprenticeTaskList:
    """List the organisation's tasks of the apprentice by name, without their configurations."""
    tasks, token = parts().apprentice_tasks.list(app.caller, limit=limit, next_token=next_token)
    return ApprenticeTaskList(tasks=[summary_on_wire(task) for task in tasks], next_token=token)


@app.get("/api/v1/apprentice/tasks/<task_name>", tags=["apprentice"])
def read_apprentice_task(task_name: str) -> ApprenticeTaskResponse:
    """Return one task with its present configuration."""
    return ApprenticeTaskResponse(
        task=task_on_wire(parts().apprentice_tasks.get(app.caller, task_name))
    )


@app.delete("/api/v1/apprentice/tasks/<task_name>", status_code=204, tags=["apprentice"])
def delete_apprentice_task(task_name: str) -> None:
    """Delete a task with all its configurations."""
    app.made(apprentice_task_id=parts().apprentice_tasks.delete(app.caller, task_name))


@app.get("/api/v1/apprentice/tasks/<task_name>/configurations", tags=["apprentice"])
def list_apprentice_configurations(
    task_name: str, limit: PageSize = 50, next_token: NextToken = None
) -> ApprenticeConfigurationList:
    """List the versions of a task's configuration, newest first; a page has fewer of long ones."""
    found, token = parts().apprentice_tasks.configurations(
        app.caller, task_name, limit=limit, next_token=next_token
    )
    return ApprenticeConfigurationList(
        configurations=[configuration_on_wire(one) for one in found], next_token=token
    )


@app.get("/api/v1/apprentice/tasks/<task_name>/configurations/<version>", tags=["apprentice"])
def read_apprentice_configuration(
    task_name: str, version: ConfigurationNumber
) -> ApprenticeConfigurationResponse:
    """Return one version of a task's configuration."""
    found = parts().apprentice_tasks.configuration(app.caller, task_name, version)
    return ApprenticeConfigurationResponse(configuration=configuration_on_wire(found))


@app.post(_VERSIONS, status_code=201, tags=["apprentice"])
def register_apprentice_version(
    task_name: str, body: RegisterApprenticeVersion
) -> ApprenticeVersionResponse:
    """Make a version of a model that the task's server lists; the same again is the same one."""
    configured, version = parts().model_versions.register(app.caller, task_name, body)
    app.made(apprentice_task_id=configured.task.id, version=str(version.number))
    return _shown(configured, version)


@app.get(_VERSIONS, tags=["apprentice"])
def list_apprentice_versions(
    task_name: str, limit: PageSize = 50, next_token: NextToken = None
) -> ApprenticeVersionList:
    """List the versions of a task's small model, newest first."""
    configured, found, token = parts().model_versions.list(
        app.caller, task_name, limit=limit, next_token=next_token
    )
    return ApprenticeVersionList(
        versions=[version_on_wire(configured.task, one) for one in found], next_token=token
    )


@app.get(f"{_VERSIONS}/<version>", tags=["apprentice"])
def read_apprentice_version(task_name: str, version: VersionNumber) -> ApprenticeVersionResponse:
    """Return one version of a task's small model, with the last things that its pairs did to it."""
    return _shown(*parts().model_versions.get(app.caller, task_name, version))


@app.post(f"{_VERSIONS}/<version>/promote", tags=["apprentice"])
def promote_apprentice_version(task_name: str, version: VersionNumber) -> ApprenticeVersionResponse:
    """Take a version's canary as passed, if it graduated by its own evidence."""
    app.made(version=str(version))
    configured, found = parts().model_versions.promote(app.caller, task_name, version)
    app.made(apprentice_task_id=configured.task.id)
    return _shown(configured, found)


@app.post(f"{_VERSIONS}/<version>/retire", tags=["apprentice"])
def retire_apprentice_version(task_name: str, version: VersionNumber) -> ApprenticeVersionResponse:
    """Take a version out for good; the one before serves again if its evidence says that it may."""
    app.made(version=str(version))
    configured, found = parts().model_versions.retire(app.caller, task_name, version)
    app.made(apprentice_task_id=configured.task.id)
    return _shown(configured, found)


@app.post(f"{_VERSIONS}/<version>/rollback", tags=["apprentice"])
def roll_back_apprentice_version(
    task_name: str, version: VersionNumber
) -> ApprenticeVersionResponse:
    """Retire the version that serves, if one before it may serve, and return that one."""
    app.made(version=str(version))
    configured, serves = parts().model_versions.roll_back(app.caller, task_name, version)
    app.made(apprentice_task_id=configured.task.id)
    return _shown(configured, serves)


@app.get(f"{_VERSIONS}/<version>/certificate", tags=["apprentice"])
def read_apprentice_certificate(
    task_name: str, version: VersionNumber
) -> SignedApprenticeCertificateResponse:
    """Return what a version was trained on, how it was judged and what that cost, signed."""
    found = parts().certificates.of_version(app.caller, task_name, version)
    return SignedApprenticeCertificateResponse(certificate=certificate_on_wire(found))


@app.get("/api/v1/apprentice/certificate-key", tags=["apprentice"])
def read_apprentice_certificate_key() -> ApprenticeCertificateKeyResponse:
    """Return the public key by which certificates of versions are checked."""
    return ApprenticeCertificateKeyResponse(certificate_key=parts().certificates.key())


@app.get("/api/v1/apprentice/tasks/<task_name>/pairs", tags=["apprentice"])
def list_apprentice_pairs(
    task_name: str, version: OfVersion, limit: PageSize = 50, next_token: NextToken = None
) -> ApprenticePairList:
    """List what a version's evidence is made of, newest first: scores, and of which runs."""
    found, token = parts().apprentice_pairs.page(
        app.caller, task_name, version, limit=limit, next_token=next_token
    )
    return ApprenticePairList(pairs=[pair_on_wire(one) for one in found], next_token=token)


def _shown(configured: ConfiguredTask, version: ModelVersion) -> ApprenticeVersionResponse:
    """Return a version with the last things that its pairs did to it."""
    changes = parts().model_versions.changes(version)
    return ApprenticeVersionResponse(version=version_on_wire(configured.task, version, changes))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
