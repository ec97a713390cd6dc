"""A function that EventBridge invokes again and again."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.constructs.service_function import ServiceFunction

# Lambda's shortest. What is older is dropped: the next run does its work.
OLDEST_EVENT = Duration.seconds(60)


class Schedule(Construct):
    """Invokes a function at a fixed rate, each time once.

    EventBridge hands its events to Lambda's queue of asynchronous invocations. Its own retries
    concern the hand-over alone; without a configuration Lambda then runs a function that failed, or
    was throttled, up to three times, also hours later and beside the runs that were due since.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function: ServiceFunction,
        every: Duration,
        inputs: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Schedule a function.

        Args:
            every: from one run to the next.
            inputs: events of runs that start together; one run with EventBridge's own if empty.
        """
        super().__init__(scope, construct_id)
        started: list[events.RuleTargetInput | None] = [
            events.RuleTargetInput.from_object(one) for one in inputs
        ]
        function.function.configure_async_invoke(retry_attempts=0, max_event_age=OLDEST_EVENT)
        events.Rule(
            self,
            "Rule",
            schedule=events.Schedule.rate(every),
            targets=[
                targets.LambdaFunction(function.function, event=event, retry_attempts=0)
                for event in started or [None]
            ],
        )
