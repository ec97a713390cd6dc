"""What watches graders, and what tells of the events that are stored in the registry."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.schedule import Schedule
from infra.constructs.stream_consumer import StreamConsumer
from infra.stacks.data_stack import DataStack
from infra.stacks.service_functions import ServiceFunctions
from infra.stacks.webhooks import Webhooks

PROBE_INTERVAL = Duration.minutes(5)
# Shorter than the interval, so that no run meets the next one of its shard.
PROBE_TIMEOUT = Duration.minutes(4)
PUBLISH_TIMEOUT = Duration.seconds(60)
# As many as the repository of graders spreads their health over.
HEALTH_SHARDS = 4


def add_probing(stack: Construct, *, functions: ServiceFunctions, data: DataStack) -> None:
    """Ask graders for their health every five minutes, those of each shard in a run of its own."""
    probe = functions.create(
        "ProbeGraders",
        handler="functions.graders.probe_graders.lambda_handler",
        description="Asks graders for their health and has their status follow",
        timeout=PROBE_TIMEOUT,
        environment=functions.grader_environment,
    )
    data.registry.grant_query_replace(probe.function)
    data.secrets_key.grant_derive(probe.function)
    Schedule(
        stack,
        "ProbeEveryFiveMinutes",
        function=probe,
        every=PROBE_INTERVAL,
        inputs=[{"shard": shard} for shard in range(HEALTH_SHARDS)],
    )


def add_publishing(
    stack: Construct, *, functions: ServiceFunctions, data: DataStack, webhooks: Webhooks
) -> StreamConsumer:
    """Publish the events that a transaction stored beside what happened."""
    publish = functions.create(
        "PublishEvents",
        handler="functions.webhooks.publish_events.lambda_handler",
        description="Tells organisations of what happened to their graders",
        timeout=PUBLISH_TIMEOUT,
        environment=webhooks.environment,
    )
    webhooks.grant_publish(publish)
    return StreamConsumer(
        stack,
        "Outbox",
        table=data.registry,
        consumer=publish,
        inserted=["event#"],
    )
