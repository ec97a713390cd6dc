"""Graphs and the alarm of trainings and hosts of the apprentice's small models."""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_stepfunctions as stepfunctions

from infra.constructs.alarms import NANO, PERIOD, Alarms, own_metric
from infra.constructs.service_function import ServiceFunction

# As ``audit.events`` words it.
AUDITED_MESSAGE = "event audited"
_OF_TRAININGS: Final[Mapping[str, Sequence[str]]] = {
    "$.action": ["apprentice_training"],
    "$.data.change": ["ended"],
}
# Events are delivered at least once. Of one that comes again no count is made, but an alarm is.
_ONCE: Final[Mapping[str, Sequence[str]]] = {**_OF_TRAININGS, "$.delivery": ["first"]}
# Hosts are looked at once an hour at least, so that less says little.
HOUR = Duration.hours(1)
_BY_OPERATORS = [
    *("platform_error", "no_capacity", "job_refused", "data_refused", "artifact_refused"),
    *("hosting_capacity", "hosting_quota", "not_hosted"),
]


def watch_trainings(alarms: Alarms, publish: ServiceFunction, *, usd: int | None) -> None:
    """Makes metrics of ends of trainings, and alarms on those that an operator has to look at.

    Args:
        alarms: Has them.
        publish: Its log has each event that is audited.
        usd: Trainings that cost so many US dollars in a day raise an alarm; None for none.
    """
    for state in ("hosted", "discarded", "failed"):
        alarms.measure_log(
            publish,
            name=f"Trainings{state.capitalize()}",
            message=AUDITED_MESSAGE,
            where={**_ONCE, "$.data.state": [state]},
        )
    alarms.measure_log(
        publish,
        name="TrainingNanoUsd",
        message=AUDITED_MESSAGE,
        where=_ONCE,
        value="$.data.spentNanoUsd",
    )
    alarms.watch_spend(
        "TrainingNanoUsd",
        name="TrainingSpend",
        usd=usd,
        description="Trainings that ended within a day cost more than is usual here",
    )
    alarms.watch_log(
        publish,
        name="TrainingsNeedOperator",
        message=AUDITED_MESSAGE,
        where={**_OF_TRAININGS, "$.data.error": _BY_OPERATORS},
        description=(
            "Trainings could not go on, SageMaker refused a job or had no instance for it, data or "
            "a model were not what was stored, or nothing hosts what was trained"
        ),
    )


def trainings(machine: stepfunctions.IStateMachine) -> Sequence[cloudwatch.IMetric]:
    """Return lines of trainings: begun, and what they came to."""
    return [
        machine.metric_started(period=PERIOD, label="begun, or begun anew"),
        own_metric("TrainingsHosted", statistic="Sum", label="a version came of it"),
        own_metric("TrainingsDiscarded", statistic="Sum", label="showed too little"),
        own_metric("TrainingsFailed", statistic="Sum", label="failed"),
        own_metric("TrainingsNeedOperator", statistic="Sum", label="need an operator"),
        own_metric("TrainingJobsAboveBound", statistic="Sum", label="job above its bound"),
        own_metric("HostingsStuck", statistic="Sum", label="hosting stuck"),
    ]


def awake_instances() -> Sequence[cloudwatch.IMetric]:
    """Return the line of how many instances host versions, on average of an hour."""
    seconds = own_metric("HostingSeconds", statistic="Sum", period=HOUR)
    return [
        cloudwatch.MathExpression(
            expression="seconds / 3600",
            using_metrics={"seconds": seconds},
            period=HOUR,
            label="instances awake",
        )
    ]


def spend() -> Sequence[cloudwatch.IMetric]:
    """Return lines of what jobs and instances cost by the hour, in US dollars."""
    return [
        cloudwatch.MathExpression(
            expression=f"{name} / {NANO}",
            using_metrics={name: own_metric(metric, statistic="Sum", period=HOUR)},
            period=HOUR,
            label=f"{name}, USD an hour",
        )
        for name, metric in (("training", "TrainingNanoUsd"), ("hosting", "HostingNanoUsd"))
    ]
