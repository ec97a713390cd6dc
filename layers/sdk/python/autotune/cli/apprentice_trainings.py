"""``autotune apprentice train`` and ``trainings``: how versions of a small model come to be."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from autotune.cli import exit_codes
from autotune.cli.apprentice_training_words import why_not
from autotune.cli.invocation import Columns, Invocation, note, page_size, stop
from autotune.cli.llm_spending import dollars
from autotune.client import AutotuneError, WaitTimeoutError
from autotune.protocol.apprentice_trainings import ApprenticeTraining, ApprenticeTrainingTest
from autotune.protocol.limits import MAX_APPRENTICE_TRAININGS

Task = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]


def _why(training: ApprenticeTraining) -> str:
    if training.error is None:
        return " ".join(training.objections)
    return f"{training.error}: {training.reason}" if training.reason else training.error


def _cost(training: ApprenticeTraining) -> str | None:
    """Return what its jobs cost; of one that is under way, what is set aside for it."""
    if training.reserved_nano_usd:
        return f"up to {dollars(training.spent_nano_usd + training.reserved_nano_usd)}"
    return dollars(training.spent_nano_usd)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


_COLUMNS: Columns[ApprenticeTraining] = {
    "TRAINING": lambda one: one.number,
    "STATE": lambda one: one.state,
    "STEP": lambda one: one.step,
    "EXAMPLES": lambda one: one.data.train if one.data else "",
    "HELD OUT": lambda one: one.data.holdout if one.data else "",
    "MEAN": lambda one: _share(one.test.mean if one.test else None),
    "BOUND": lambda one: _share(one.test.bound if one.test else None),
    "VERSION": lambda one: one.version or "",
    "COST USD": _cost,
    "WHY": _why,
    "BEGAN": lambda one: f"{one.created_at:%Y-%m-%d %H:%M}",
}


def train(
    invocation: Invocation,
    task: Task,
    *,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the training has ended.")
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop waiting so long after; the training goes on."
        ),
    ] = None,
) -> None:
    """Train a task's small model from its examples: what shows enough becomes a version in shadow.

    The exit status is 1 where no version came of it.
    """
    training = invocation.client.apprentice.trainings.start(task)
    _follow(invocation, task, training, wait=wait, timeout=timeout)


def host_training(
    invocation: Invocation,
    task: Task,
    number: Annotated[
        int,
        typer.Argument(
            metavar="TRAINING",
            min=1,
            max=MAX_APPRENTICE_TRAININGS,
            help="Which made the model that is kept.",
        ),
    ],
    *,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the new training has ended.")
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop waiting so long after; the training goes on."
        ),
    ] = None,
) -> None:
    """Have a model hosted and judged that a job of a training made, and that nobody judged then.

    No job is paid for again; the instance that hosts it costs by the hour, while it is judged and
    while its version is asked. The exit status is 1 where no version came of it.
    """
    training = invocation.client.apprentice.trainings.host(task, number)
    _follow(invocation, task, training, wait=wait, timeout=timeout)


def _follow(
    invocation: Invocation,
    task: str,
    training: ApprenticeTraining,
    *,
    wait: bool,
    timeout: float | None,
) -> None:
    if not wait:
        show(invocation, training)
        return
    note(f"training {training.number} of {task}")
    trainings_ = invocation.client.apprentice.trainings
    with _way_on_printed(training, task):
        training = trainings_.wait_for(task, training.number, timeout=timeout)
    show(invocation, training)
    if training.state != "hosted":
        raise typer.Exit(exit_codes.INCOMPLETE)


@contextmanager
def _way_on_printed(training: ApprenticeTraining, task: str) -> Iterator[None]:
    """Print how to look again where waiting ends, because the training goes on."""
    try:
        yield
    except (AutotuneError, KeyboardInterrupt) as error:
        note(f"the training goes on: `autotune apprentice trainings {task} {training.number}`")
        if isinstance(error, WaitTimeoutError):
            stop(str(error), exit_codes.INCOMPLETE)
        raise


def trainings(
    invocation: Invocation,
    task: Task,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="TRAINING", min=1, max=MAX_APPRENTICE_TRAININGS, help="One of them."
        ),
    ] = None,
    *,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
) -> None:
    """List a task's trainings, newest first, or show one with its data and its test."""
    found = invocation.client.apprentice.trainings
    if number is None:
        invocation.show_all(found.list(task, page_size=page_size(limit)), _COLUMNS, limit)
    else:
        show(invocation, found.get(task, number))


def _gate(test: ApprenticeTrainingTest) -> dict[str, object]:
    """Return what the hold-out says of a gate, whether the task has one or not."""
    gate = test.gate
    if gate is None:
        return {"gate": "no confidence is shown to suffice"} if test.is_gated else {}
    decides = "" if test.is_gated else "; the task had no gate"
    return {
        "gate": f"of {gate.coverage:.1%} of inputs it is sure enough (a confidence of "
        f"{gate.confidence:.3f}), and {gate.agreement:.1%} of {gate.groups} groups of those agree "
        f"(p {gate.p_value:.2g}){decides}",
        "gateAlarm": f"below a coverage of {gate.least_coverage:.1%}",
    }


def cancel_training(
    invocation: Invocation,
    task: Task,
    number: Annotated[
        int,
        typer.Argument(metavar="TRAINING", min=1, max=MAX_APPRENTICE_TRAININGS, help="Which."),
    ],
) -> None:
    """Have a training ended; a job that trains is stopped, and paid for as far as it came.

    A model that a job made and nobody judged is kept for 30 days: `host-training` has it hosted.
    """
    show(invocation, invocation.client.apprentice.trainings.cancel(task, number))


def _hosting(training: ApprenticeTraining) -> dict[str, object]:
    """Return what is to host the model, what that lacks, and where or until when it is kept."""
    found, of = training.hosting, training.model_of
    shown: dict[str, object] = {} if of is None else {"modelOf": of}
    if training.model_kept_until:
        shown["modelKeptUntil"] = f"{training.model_kept_until:%Y-%m-%d}"
    if training.model_taken_by is not None:
        shown["modelTakenBy"] = training.model_taken_by
    if found is None:
        return shown
    shown["hostInstance"] = found.instance_type
    if found.lacks:
        shown["without"] = ", ".join(f"{one.instance_type}: {one.lack}" for one in found.lacks)
    if training.state == "running" and found.since and found.tried_again_at:
        shown["waitsSince"] = f"{found.since:%Y-%m-%d %H:%M}"
        shown["triedAgain"] = f"{found.tried_again_at:%Y-%m-%d %H:%M}"
    return shown


def show(invocation: Invocation, training: ApprenticeTraining) -> None:
    """Print a training."""
    if invocation.as_json:
        invocation.show_json(training)
        return
    shown: dict[str, object] = {
        "training": training.number,
        "state": training.state,
        "step": training.step,
        "version": training.version,
    }
    if (said := why_not(training)) is not None:
        shown["why"] = said
    if training.data is not None:
        shown |= {"examples": training.data.train, "heldOut": training.data.holdout}
    if training.job is not None:
        shown |= {
            "job": training.job.name,
            "instance": training.job.instance_type,
        }
    if training.job is not None or training.spent_nano_usd or training.reserved_nano_usd:
        shown |= {
            "billableSeconds": training.billable_seconds,
            "spentUsd": dollars(training.spent_nano_usd),
            "reservedUsd": dollars(training.reserved_nano_usd),
        }
    if training.model is not None:
        shown |= {"model": training.model.name, "seconds": training.model.seconds}
    shown |= _hosting(training)
    test = training.test
    if test is not None:
        shown |= {
            "attempt": test.attempt,
            "groups": f"{test.groups} (at least {test.fewest_groups})",
            "mean": _share(test.mean),
            "bound": f"{_share(test.bound)} (above {test.threshold:.3f})",
            "valid": f"{test.valid:.1%}",
            "slowMs": test.slow_ms,
        }
        compared = test.comparison
        if compared is not None:
            shown["compared"] = (
                f"with version {compared.version}: {compared.mean_difference:+.3f}, "
                f"{'no worse' if compared.is_no_worse else 'not shown to be as good'} "
                f"by {compared.margin}"
            )
            if compared.power is not None:
                shown["power"] = (
                    f"{compared.power:.0%} (80 % takes {compared.groups_for_power} groups)"
                )
        shown |= _gate(test)
    invocation.show_fields(shown)
