"""``autotune apprentice versions``: which small models a task has, and which of them may answer."""

from typing import Annotated

import typer

from autotune.cli.invocation import Columns, Invocation, command
from autotune.protocol.apprentice_versions import ApprenticeVersion, ApprenticeVersionChange
from autotune.protocol.limits import MAX_APPRENTICE_VERSIONS

app = typer.Typer(no_args_is_help=True, help="Versions of a task's small model.")

Task = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]
Number = Annotated[
    int, typer.Argument(metavar="VERSION", min=1, max=MAX_APPRENTICE_VERSIONS, help="Its number.")
]

_COLUMNS: Columns[ApprenticeVersion] = {
    "VERSION": lambda one: one.number,
    "MODEL": lambda one: one.model,
    "DIGEST": lambda one: (one.digest or "").removeprefix("sha256:")[:12],
    "STATE": lambda one: one.state,
    "DEFINITION": lambda one: "present" if one.is_of_present_definition else "another",
    "GATE": lambda one: "kept" if one.needs_gate else "",
    "CANARY": lambda one: "passed" if one.canary_at is not None else "",
    "REGISTERED": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
}

_CHANGES: Columns[ApprenticeVersionChange] = {
    "AT": lambda one: f"{one.at:%Y-%m-%d %H:%M}",
    "CHANGE": lambda one: one.kind,
    "PAIR": lambda one: one.sequence,
    "SHARE": lambda one: "" if one.share is None else f"{one.share:.1%}",
    "AGREEMENT": lambda one: "" if one.mean_agreement is None else f"{one.mean_agreement:.1%}",
}


@command(app, name="list")
def list_(invocation: Invocation, task: Task) -> None:
    """List a task's versions, newest first."""
    invocation.show_all(invocation.client.apprentice.versions.list(task), _COLUMNS)


@command(app)
def show(invocation: Invocation, task: Task, version: Number) -> None:
    """Show one version, and the last things that its pairs did to it."""
    _show(invocation, invocation.client.apprentice.versions.get(task, version))


@command(app)
def register(
    invocation: Invocation,
    task: Task,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="As the task's server lists it.")],
) -> None:
    """Make a version of a model that vLLM, Ollama or llama.cpp serves already.

    The same model again is the same version; one that was replaced under its name is a new one.
    """
    _show(invocation, invocation.client.apprentice.versions.register(task, model=model))


@command(app)
def promote(invocation: Invocation, task: Task, version: Number) -> None:
    """Have a version serve that graduated, without waiting for its canary."""
    _show(invocation, invocation.client.apprentice.versions.promote(task, version))


@command(app)
def retire(invocation: Invocation, task: Task, version: Number) -> None:
    """Take a version out for good; the one before serves if its evidence says that it may."""
    _show(invocation, invocation.client.apprentice.versions.retire(task, version))


@command(app)
def rollback(invocation: Invocation, task: Task, version: Number) -> None:
    """Retire the version that serves, if one before it may serve, and show that one.

    Of a version in its canary it ends that: the one that serves is shown, or the version itself
    where none does. The same again goes no further back.
    """
    _show(invocation, invocation.client.apprentice.versions.roll_back(task, version))


def _show(invocation: Invocation, version: ApprenticeVersion) -> None:
    if invocation.as_json or not version.changes:
        invocation.show(version)
        return
    invocation.show_fields(version.model_dump(by_alias=True, mode="json", exclude={"changes"}))
    invocation.show_all(version.changes, _CHANGES)
