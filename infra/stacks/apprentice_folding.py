"""What follows runs of the apprentice: counts, and the evidence that pairs of answers are."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.service_function import WHOLE_PROCESSOR_MB, ServiceFunction
from infra.constructs.stream_consumer import StreamConsumer
from infra.constructs.work_queue import WorkQueue
from infra.stacks.domain_stack import DomainStack
from infra.tables import DUE_RUNS_INDEX

# Evidence that cannot be read, such as of an older form, is rebuilt where its next pair comes: 30 s
# for each million. What would not fit would keep its shard of the stream.
FOLLOW_TIMEOUT = Duration.minutes(15)
SWEEP_TIMEOUT = Duration.seconds(300)
TASKS = "apt_*"
LISTS = "org_*#tasks"
RUNS = "apr_*"
RUN = "run"
CONFIGURATION = "configuration#"
VERSION = "version#"
ENDED = ("answered", "refused", "failed")


class ApprenticeFolding(Construct):
    """The function that follows the table, and the one that looks after what was lost."""

    def __init__(self, stack: DomainStack, *, runs: WorkQueue) -> None:
        """Makes all of it in the stack of the apprentice.

        Args:
            stack: That stack.
            runs: Runs that are to be worked on, and checked.
        """
        super().__init__(stack, "Folding")
        self._stack = stack
        self._runs = runs
        self._table = stack.shared.data.apprentice
        self._environment = {
            "APPRENTICE_TABLE": self._table.table.table_name,
            "RUN_QUEUE_URL": runs.queue.queue_url,
        }
        self._follow()
        self._sweep()

    def _follow(self) -> None:
        follow = self._stack.create(
            "FollowRuns",
            module="follow_runs",
            description="Counts runs of the apprentice, and folds their pairs into evidence",
            timeout=FOLLOW_TIMEOUT,
            environment=self._environment,
            memory_mb=WHOLE_PROCESSOR_MB,
        )
        self._grant_counting(follow)
        consumer = StreamConsumer(
            self._stack,
            "RunStream",
            table=self._table,
            consumer=follow,
            inserted=[RUN, CONFIGURATION, VERSION],
            modified=[VERSION],
            modified_if=[(RUN, "state", ENDED)],
        )
        self._stack.alarms.watch_stream(consumer, name="FollowRuns")

    def _sweep(self) -> None:
        sweep = self._stack.create(
            "SweepRuns",
            module="sweep_runs",
            description="Ends runs of the apprentice that nobody works on any more",
            timeout=SWEEP_TIMEOUT,
            # Pairs are folded anew here, which is computing.
            memory_mb=WHOLE_PROCESSOR_MB,
            environment={
                **self._environment,
                "APPRENTICE_BUCKET": self._stack.shared.data.apprentice_files.bucket.bucket_name,
            },
        )
        self._grant_counting(sweep)
        self._table.grant_query_index(sweep.function, index_name=DUE_RUNS_INDEX)
        self._table.grant_read(sweep.function, "GetItem", keys=RUNS)
        self._table.grant_write(sweep.function, "UpdateItem", keys=RUNS)
        # A task whose deletion was cut off is deleted here.
        self._stack.shared.data.apprentice_files.grant_delete(sweep.function)
        self._table.grant_write(sweep.function, "BatchWriteItem", "DeleteItem", keys=TASKS)
        self._table.grant_write(sweep.function, "DeleteItem", "UpdateItem", keys=LISTS)
        self._stack.run_every(Duration.minutes(1), sweep)

    def _grant_counting(self, function: ServiceFunction) -> None:
        table, counting = self._table, function.function
        # What follows for a version requires it to be as it was read.
        table.grant_read(
            counting, "BatchGetItem", "ConditionCheckItem", "GetItem", "Query", keys=TASKS
        )
        table.grant_write(counting, "UpdateItem", keys=TASKS)
        table.grant_read(counting, "ConditionCheckItem", "GetItem", keys=LISTS)
        # A run that came after its task was deleted goes, too.
        table.grant_write(counting, "BatchWriteItem", keys=RUNS)
        # Answers that are to be checked go to the worker.
        self._runs.grant_send(function)
