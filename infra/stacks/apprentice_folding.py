"""What follows runs of the apprentice: counts, and the evidence that pairs of answers are."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.stream_consumer import StreamConsumer
from infra.stacks.domain_stack import DomainStack

FOLLOW_TIMEOUT = Duration.seconds(60)
TASKS = "apt_*"
LISTS = "org_*#tasks"
RUN = "run"
CONFIGURATION = "configuration#"
VERSION = "version#"
ENDED = ("answered", "refused", "failed")


class ApprenticeFolding(Construct):
    """The function that follows the table, and its stream."""

    def __init__(self, stack: DomainStack) -> None:
        """Makes all of it in the stack of the apprentice.

        Args:
            stack: That stack.
        """
        super().__init__(stack, "Folding")
        table = stack.shared.data.apprentice
        follow = stack.create(
            "FollowRuns",
            module="follow_runs",
            description="Counts runs of the apprentice, and folds their pairs into evidence",
            timeout=FOLLOW_TIMEOUT,
            environment={"APPRENTICE_TABLE": table.table.table_name},
        )
        table.grant_read(follow.function, "BatchGetItem", "GetItem", "Query", keys=TASKS)
        table.grant_write(follow.function, "UpdateItem", keys=TASKS)
        table.grant_read(follow.function, "ConditionCheckItem", "GetItem", keys=LISTS)
        consumer = StreamConsumer(
            stack,
            "RunStream",
            table=table,
            consumer=follow,
            inserted=[RUN, CONFIGURATION, VERSION],
            modified=[VERSION],
            modified_if=[(RUN, "state", ENDED)],
        )
        stack.alarms.watch_stream(consumer, name="FollowRuns")
