"""Scoring: what starts runs, grades, waits, takes answers, and redrives what is lost."""

from aws_cdk import Duration
from constructs import Construct

from infra.config import REPOSITORY_ROOT
from infra.constructs.content_bucket import OF_COMPLETIONS
from infra.constructs.service_function import WHOLE_PROCESSOR_MB, ServiceFunction
from infra.constructs.workflow import Workflow
from infra.stacks.completions import DISPATCH_TIMEOUT, CompletionsStack
from infra.stacks.domain_stack import (
    AUDIT_OF_ANY_ORGANIZATION,
    CALLS,
    GRADERS,
    HEALTH,
    REQUESTS,
    DomainStack,
    Shared,
)
from infra.stacks.http import HttpStack
from infra.stacks.webhooks import WebhooksStack
from infra.tables import OPEN_BATCHES_INDEX, RUNS_BY_STATE_INDEX

GRADE_TIMEOUT = Duration.seconds(120)
AWAIT_TIMEOUT = Duration.seconds(30)
FAIL_TIMEOUT = Duration.seconds(60)
SWEEP_TIMEOUT = Duration.seconds(60)
LONGEST_DUE = Duration.minutes(15)
PARKED_RUNS = "parked#*"
QUEUES_AT_WORK = "queue#*"
RUNS = "run_*"
STATE_MACHINE_DEFINITION = REPOSITORY_ROOT / "statemachines" / "score_completions.asl.json"


class ScoringStack(DomainStack):
    """Holds the workflow that scores chunks, and the functions around it.

    Attributes:
        workflow: What answers of graders and people wake; only dispatch and the
            workflow itself start executions.
        sweep: For operators, who need not wait for its schedule.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        shared: Shared,
        http: HttpStack,
        webhooks: WebhooksStack,
        completions: CompletionsStack,
    ) -> None:
        super().__init__(scope, domain="scoring", shared=shared, holds="runs of the workflow")
        await_answers = self._create_await()
        grade = self._create_grade(http)
        continue_run = self._create_continue()
        self.workflow = Workflow(
            self,
            "ScoreCompletions",
            service_name=shared.service_name,
            definition=STATE_MACHINE_DEFINITION,
            functions={
                "GradeChunkFunctionArn": grade,
                "AwaitAnswersFunctionArn": await_answers,
                "ContinueRunFunctionArn": continue_run,
                "FailRunFunctionArn": self._create_fail(),
            },
        )
        self.workflow.grant_wake(await_answers)
        self.workflow.grant_wake(grade)  # what is parked for a grader that is back
        self.workflow.grant_continue(continue_run)
        self.alarms.watch_runs(self.workflow.state_machine, name="ScoreCompletions")
        self._add_dispatch(completions)
        self._add_callbacks(http)
        self.sweep = self._create_sweep(webhooks, completions)

    def _create_grade(self, http: HttpStack) -> ServiceFunction:
        data = self.shared.data
        grade = self.create(
            "GradeChunk",
            module="grade_chunk",
            description="Has a chunk of completions graded and writes the verdicts",
            timeout=GRADE_TIMEOUT,
            most_at_once=self.shared.config.grading_functions,
            environment={
                **self.content_environment,
                **self.grader_environment,
                **http.url_environment,
                "BUDGETS_TABLE": data.budgets.table.table_name,
                "LEDGER_TABLE": data.ledger.table.table_name,
                "LEDGER_BUCKET": data.ledger_texts.bucket.bucket_name,
            },
        )
        data.registry.grant_read(grade.function, "GetItem")
        data.registry.grant_write(grade.function, "UpdateItem", keys=GRADERS)
        data.budgets.grant_read(grade.function, "GetItem")
        data.budgets.grant_write(grade.function, "PutItem", "UpdateItem", keys=GRADERS)
        data.completions.grant_read(grade.function, "BatchGetItem", "Query")
        data.completions.grant_write(grade.function, "BatchWriteItem", "PutItem", "UpdateItem")
        for keys in (CALLS, PARKED_RUNS):
            data.completions.grant_write(grade.function, "DeleteItem", keys=keys)
        data.content.grant_read(grade.function, names=OF_COMPLETIONS)
        data.secrets_keys.grant_derive(grade, "grader")
        self.grant_orders(grade)
        return grade

    def _create_fail(self) -> ServiceFunction:
        fail = self.create(
            "FailRun",
            module="fail_run",
            description="Records that a run gave up; the sweeper redrives what is pending in it",
            timeout=FAIL_TIMEOUT,
            environment=self.content_environment,
        )
        self.shared.data.completions.grant_read(fail.function, "BatchGetItem")
        self.shared.data.completions.grant_write(fail.function, "UpdateItem")
        return fail

    def _create_continue(self) -> ServiceFunction:
        return self.create(
            "ContinueRun",
            module="continue_run",
            description="Goes on with a run in another execution before a history is full",
            timeout=AWAIT_TIMEOUT,
            reads_environment=False,
        )

    def _create_await(self) -> ServiceFunction:
        await_answers = self.create(
            "AwaitAnswers",
            module="await_answers",
            description="Lets a run wait for callbacks and people, or for a grader that is down",
            timeout=AWAIT_TIMEOUT,
            environment={
                **self.content_environment,
                "BUDGETS_TABLE": self.shared.data.budgets.table.table_name,
                "LEDGER_TABLE": self.shared.data.ledger.table.table_name,
            },
        )
        data = self.shared.data
        data.completions.grant_read(await_answers.function, "BatchGetItem")
        data.completions.grant_write(await_answers.function, "UpdateItem", keys=RUNS)
        data.completions.grant_write(await_answers.function, "PutItem", keys=PARKED_RUNS)
        data.budgets.grant_read(await_answers.function, "GetItem")
        data.ledger.grant_read(await_answers.function, "BatchGetItem", keys=REQUESTS)
        return await_answers

    def _add_dispatch(self, completions: CompletionsStack) -> None:
        """Start an execution for each chunk in a queue."""
        data, grading = self.shared.data, self.shared.config.grading_functions
        dispatch = self.create(
            "DispatchChunks",
            module="dispatch_chunks",
            description="Starts a run of the scoring workflow for each chunk in a queue",
            timeout=DISPATCH_TIMEOUT,
            environment={
                "COMPLETIONS_TABLE": data.completions.table.table_name,
                "SCORE_COMPLETIONS_ARN": self.workflow.state_machine.state_machine_arn,
                # No organisation begins more runs than that many functions grade.
                **({} if grading is None else {"GRADING_FUNCTIONS": str(grading)}),
            },
        )
        for keys in (RUNS, QUEUES_AT_WORK):
            data.completions.grant_write(dispatch.function, "PutItem", keys=keys)
        data.completions.grant_query_index(dispatch.function, index_name=RUNS_BY_STATE_INDEX)
        self.workflow.state_machine.grant_start_execution(dispatch.function)
        for queue in completions.queues.values():
            queue.drain_into(dispatch)

    def _add_callbacks(self, http: HttpStack) -> None:
        """Route callbacks to a function that reads no keys: graders sign with what they share."""
        data = self.shared.data
        callbacks = self.create_keyless_api(
            "CallbacksApi", module="callbacks_api", environment=self.content_environment
        )
        data.registry.grant_read(callbacks.function, "GetItem")
        data.registry.grant_write(callbacks.function, "UpdateItem", keys=GRADERS)
        data.completions.grant_read(callbacks.function, "BatchGetItem", "GetItem")
        data.completions.grant_write(callbacks.function, "BatchWriteItem", "PutItem", "UpdateItem")
        data.completions.grant_write(callbacks.function, "DeleteItem", keys=CALLS)
        data.secrets_keys.grant_derive(callbacks, "grader")
        self.workflow.grant_wake(callbacks)
        # Below an id alone: there is no list of calls.
        http.api.route(callbacks, paths=["/api/v1/callbacks/{proxy+}"], keyless=True)

    def _create_sweep(
        self, webhooks: WebhooksStack, completions: CompletionsStack
    ) -> ServiceFunction:
        """Redrive every minute what got stuck."""
        data = self.shared.data
        sweep = self.create(
            "SweepBatches",
            module="sweep_batches",
            description="Redrives what is pending longer than it should be",
            timeout=SWEEP_TIMEOUT,
            # After an outage it has thousands of batches to look after, several at once.
            memory_mb=WHOLE_PROCESSOR_MB,
            environment={
                **self.content_environment,
                **self.audit_environment,
                **completions.queue_environment,
                **webhooks.publisher_environment,
            },
        )
        data.completions.grant_read(sweep.function, "BatchGetItem", "GetItem")
        data.completions.grant_write(sweep.function, "BatchWriteItem", "PutItem", "UpdateItem")
        data.completions.grant_query_index(sweep.function, index_name=OPEN_BATCHES_INDEX)
        data.content.grant_read(sweep.function, names=OF_COMPLETIONS)
        data.audit.grant_write(sweep.function, "UpdateItem", keys=AUDIT_OF_ANY_ORGANIZATION)
        for keys in (GRADERS, HEALTH):
            data.registry.grant_write(sweep.function, "UpdateItem", keys=keys)
        webhooks.grant_publish(sweep)
        completions.grant_send(sweep)
        for queue in completions.queues.values():
            queue.grant_count(sweep)
        parts = self.shared.config.sweep_parts
        self.run_every(
            Duration.minutes(1),
            sweep,
            inputs=[{"part": part, "parts": parts} for part in range(parts)],
        )
        self.alarms.watch_log(
            sweep,
            name="OldestDueBatchSeconds",
            message="batches swept",  # as ``scoring.sweeper`` words it
            value="$.oldest_due_seconds",
            statistic="Maximum",
            threshold=LONGEST_DUE.to_seconds(),
            description="The sweeper does not get through what is due",
        )
        return sweep
