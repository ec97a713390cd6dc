"""``client.apprentice``: what answers a task in place of the paid model."""

from autotune.client.apprentice_examples import ApprenticeExamples, AsyncApprenticeExamples
from autotune.client.apprentice_reports import (
    get_apprentice_estimate,
    get_apprentice_report,
    get_apprentice_status,
    send_apprentice_report,
)
from autotune.client.apprentice_runs import (
    delete_apprentice_run_content,
    get_apprentice_run,
    list_apprentice_runs,
    run_apprentice,
)
from autotune.client.apprentice_trainings import ApprenticeTrainings, AsyncApprenticeTrainings
from autotune.client.apprentice_versions import ApprenticeVersions, AsyncApprenticeVersions
from autotune.client.binding import AsyncResource, InnerPart, ListMethod, Method, Resource


class ApprenticeMethods:
    """Methods of the apprentice."""

    run = Method(run_apprentice)
    get_run = Method(get_apprentice_run)
    runs = ListMethod(list_apprentice_runs)
    delete_run_content = Method(delete_apprentice_run_content)
    trainings = InnerPart(ApprenticeTrainings, AsyncApprenticeTrainings)
    versions = InnerPart(ApprenticeVersions, AsyncApprenticeVersions)
    examples = InnerPart(ApprenticeExamples, AsyncApprenticeExamples)

    status = Method(get_apprentice_status)
    report = Method(get_apprentice_report)
    send_report = Method(send_apprentice_report)
    estimate = Method(get_apprentice_estimate)


class Apprentice(ApprenticeMethods, Resource):
    """The apprentice, blocking."""


class AsyncApprentice(ApprenticeMethods, AsyncResource):
    """The apprentice, for an event loop."""
