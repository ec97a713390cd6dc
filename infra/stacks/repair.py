"""What finds stuck work and drives it again."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.schedule import Schedule
from infra.constructs.service_function import ServiceFunction
from infra.indexes import OPEN_BATCHES_INDEX
from infra.stacks.data_stack import DataStack
from infra.stacks.service_functions import AUDIT_OF_ANY_ORGANIZATION, ServiceFunctions
from infra.stacks.webhooks import Webhooks

OPERATOR_TIMEOUT = Duration.seconds(30)
SWEEP_TIMEOUT = Duration.seconds(60)


def add_repair(
    stack: Construct, *, functions: ServiceFunctions, data: DataStack, webhooks: Webhooks
) -> dict[str, ServiceFunction]:
    """Sweep every minute what got stuck; tell and repair the rest when an operator asks."""
    queues = functions.queue_environment()
    sweep = functions.create(
        "SweepBatches",
        handler="functions.operations.sweep_batches.lambda_handler",
        description="Drives again what is pending longer than it should be",
        timeout=SWEEP_TIMEOUT,
        environment={
            **functions.content_environment,
            **functions.audit_environment,
            **queues,
            **webhooks.environment,
        },
    )
    data.completions.grant_read_write(sweep.function)
    webhooks.grant_publish(sweep)
    data.audit.grant_update(sweep.function, keys=AUDIT_OF_ANY_ORGANIZATION)
    data.registry.grant_count(sweep.function)
    for queue in functions.queues.values():
        queue.queue.grant_send_messages(sweep.function)
    Schedule(stack, "SweepEveryMinute", function=sweep, every=Duration.minutes(1))
    stuck = functions.create(
        "ListStuck",
        handler="functions.operations.list_stuck.lambda_handler",
        description="Tells which batches are overdue",
        timeout=OPERATOR_TIMEOUT,
        environment={**functions.content_environment, **queues},
    )
    data.completions.grant_read(stuck.function)
    for function in (sweep, stuck):
        data.completions.grant_query_index(function.function, index_name=OPEN_BATCHES_INDEX)
        data.content.grant_read(function.function)
    redrive = functions.create(
        "RedriveDeadLetters",
        handler="functions.operations.redrive_dead_letters.lambda_handler",
        description="Moves dead letters back to their queues",
        timeout=SWEEP_TIMEOUT,
        environment={
            **queues,
            **functions.dead_letter_environment(),
            "WEBHOOK_QUEUE_URL": webhooks.queue.queue.queue_url,
            "WEBHOOK_DEAD_LETTERS_URL": webhooks.queue.dead_letters.queue_url,
        },
    )
    for queue in (*functions.queues.values(), webhooks.queue):
        queue.queue.grant_send_messages(redrive.function)
        queue.dead_letters.grant_consume_messages(redrive.function)
    return {"SweepBatches": sweep, "ListStuck": stuck, "RedriveDeadLetters": redrive}
