"""What operators look at: alarms on the whole installation, and a dashboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from infra.config import ACCOUNT_FUNCTIONS, UNRESERVED
from infra.constructs.alarms import PERIOD, REFUSED, account_metric, own_metric, throttle_metric
from infra.stacks.apprentice_graphs import awake_instances, spend, trainings, watch_trainings
from infra.stacks.completions import CompletionsStack
from infra.stacks.domain_stack import DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack
from infra.stacks.scoring import ScoringStack
from infra.stacks.webhooks import WebhooksStack

_WIDTH = 8


@dataclass(frozen=True, kw_only=True)
class _Graph:
    """Lines over time."""

    title: str
    lines: Sequence[cloudwatch.IMetric]


class ObservabilityStack(DomainStack):
    """Watches what no domain owns, and draws what all of them do."""

    def __init__(
        self,
        scope: Construct,
        *,
        shared: Shared,
        http: HttpStack,
        completions: CompletionsStack,
        scoring: ScoringStack,
        webhooks: WebhooksStack,
        ledger: LedgerStack,
        train_student: stepfunctions.IStateMachine,
    ) -> None:
        super().__init__(
            scope, domain="observability", shared=shared, holds="alarms on the whole, a dashboard"
        )
        data = shared.data
        tables: Mapping[str, dynamodb.ITableV2] = {
            "Registry": data.registry.table,
            "Completions": data.completions.table,
            "Deliveries": data.deliveries.table,
            "Budgets": data.budgets.table,
            "Decks": data.decks.table,
            "Apprentice": data.apprentice.table,
            "Audit": data.audit.table,
            "Ledger": data.ledger.table,
        }
        for name, table in tables.items():
            self.alarms.watch_table(table, name=name)
        reserved = sum(shared.config.reserved_functions.values())
        self.alarms.watch_account(unreserved=max(ACCOUNT_FUNCTIONS - reserved, UNRESERVED))
        self.alarms.watch_api(http.api.api, submission=completions.submission)
        # These stand here because the ledger's own stack has no room for more.
        self.alarms.watch_log(
            ledger.work,
            name="LlmBatchesUnresolved",
            message="a batch waits for an operator",  # as ``ledger.unclear`` words it
            description="It is unclear what became of batches at their providers",
        )
        self.alarms.watch_log(
            ledger.work,
            name="LlmCostsDiffer",
            # As ``ledger.comparing`` words it, both times.
            message="a batch was charged otherwise than its provider reports",
            description="Providers report other costs of batches than were charged",
        )
        self.alarms.watch_log(
            ledger.work,
            also=[one for one in ledger.callers if one is not ledger.work],
            name="LlmCostsAboveBound",
            message="a request cost more than its bound",
            description="Requests to language models cost more than was reserved for them",
        )
        self.alarms.watch_log(
            ledger.work,
            name="LlmRowsUnpriced",
            message="no job for rows, and no price",  # as ``ledger.prices`` words it
            description="Requests to language models wait for a price for single calls",
        )
        # What graders send for five minutes in vain ends as a time-out of theirs.
        self.alarms.watch_refused(
            http.api.access_log, route="*/api/v1/callbacks/*", name="CallbacksRefused"
        )
        usd = shared.config.training_alarm_usd
        watch_trainings(self.alarms, webhooks.publish, usd=usd)
        queues = {name: queue.queue for name, queue in completions.queues.items()}
        queues["Webhooks"] = webhooks.queue.queue
        api = http.api.api
        rows = [
            [
                _Graph(
                    title="Requests, and errors of ours",
                    lines=[api.metric_count(period=PERIOD), api.metric_server_error(period=PERIOD)],
                ),
                _Graph(
                    title="Submission: how long it takes",
                    lines=[
                        completions.submission.function.metric_duration(
                            period=PERIOD, statistic=statistic
                        )
                        for statistic in ("p50", "p99")
                    ],
                ),
                _Graph(title="Runs", lines=_runs(scoring.workflow.state_machine)),
            ],
            [
                _Graph(title="Messages that wait", lines=_waiting(queues)),
                _Graph(title="The oldest message, in seconds", lines=_ages(queues)),
                _Graph(
                    title="Batches due, unclear or charged otherwise, graders down, hosting stuck",
                    lines=[
                        own_metric("OldestDueBatchSeconds", statistic="Maximum"),
                        own_metric("GradersDown", statistic="Sum"),
                        own_metric("HostingsStuck", statistic="Sum"),
                        own_metric("LlmBatchesUnresolved", statistic="Sum"),
                        own_metric("LlmCostsDiffer", statistic="Sum"),
                        own_metric("LlmCostsAboveBound", statistic="Sum"),
                        own_metric("LlmRowsUnpriced", statistic="Sum"),
                        own_metric("PlatformErrorPercent", statistic="Average"),
                    ],
                ),
            ],
            [
                _Graph(
                    title="Lambda in this account",
                    lines=[
                        account_metric("ConcurrentExecutions", statistic="Maximum"),
                        account_metric("UnreservedConcurrentExecutions", statistic="Maximum"),
                        account_metric("Throttles", statistic="Sum"),
                        account_metric("Errors", statistic="Sum"),
                    ],
                ),
                _Graph(title="DynamoDB: what it read and wrote", lines=_consumed(tables)),
                _Graph(title="DynamoDB: what it refused", lines=_refused(tables)),
            ],
            [
                _Graph(
                    title="Trainings of small models, and hosts that are stuck",
                    lines=trainings(train_student),
                ),
                _Graph(title="Instances that host small models", lines=awake_instances()),
                _Graph(title="What training and hosting cost", lines=spend()),
            ],
        ]
        self._draw(rows)

    def _draw(self, rows: Sequence[Sequence[_Graph]]) -> None:
        dashboard = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=self.shared.service_name)
        for row in rows:
            dashboard.add_widgets(
                *(
                    cloudwatch.GraphWidget(title=graph.title, left=list(graph.lines), width=_WIDTH)
                    for graph in row
                )
            )


def _runs(machine: stepfunctions.IStateMachine) -> list[cloudwatch.IMetric]:
    return [
        machine.metric_started(period=PERIOD),
        machine.metric_succeeded(period=PERIOD),
        machine.metric_failed(period=PERIOD),
    ]


def _waiting(queues: Mapping[str, sqs.IQueue]) -> list[cloudwatch.IMetric]:
    return [
        queue.metric_approximate_number_of_messages_visible(period=PERIOD, label=name)
        for name, queue in queues.items()
    ]


def _ages(queues: Mapping[str, sqs.IQueue]) -> list[cloudwatch.IMetric]:
    return [
        queue.metric_approximate_age_of_oldest_message(period=PERIOD, label=name)
        for name, queue in queues.items()
    ]


def _consumed(tables: Mapping[str, dynamodb.ITableV2]) -> list[cloudwatch.IMetric]:
    return [
        metric
        for name, table in tables.items()
        for metric in (
            table.metric_consumed_read_capacity_units(period=PERIOD, label=f"{name}: read"),
            table.metric_consumed_write_capacity_units(period=PERIOD, label=f"{name}: written"),
        )
    ]


def _refused(tables: Mapping[str, dynamodb.ITableV2]) -> list[cloudwatch.IMetric]:
    return [
        throttle_metric(table, refused, label=f"{name}: {refused.lower()}")
        for name, table in tables.items()
        for refused in REFUSED
    ]
