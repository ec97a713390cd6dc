"""The running service: a nested stack for each domain."""

from typing import Any

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from infra.config import DeploymentConfig
from infra.constructs.alarms import AlarmTopic
from infra.constructs.service_package import ServicePackage
from infra.constructs.signed_api import Throttle
from infra.stacks.access import AccessStack
from infra.stacks.apprentice import ApprenticeStack
from infra.stacks.audit import AuditStack
from infra.stacks.compatible import CompatibleStack
from infra.stacks.completions import CompletionsStack
from infra.stacks.console import ConsoleStack
from infra.stacks.data_stack import DataStack
from infra.stacks.decks import DecksStack
from infra.stacks.domain_stack import Shared
from infra.stacks.exports import ExportsStack
from infra.stacks.graders import GradersStack
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack
from infra.stacks.observability import ObservabilityStack
from infra.stacks.operations import OperationsStack
from infra.stacks.overview import OverviewStack
from infra.stacks.projections import ProjectionsStack
from infra.stacks.reviews import ReviewsStack
from infra.stacks.rewards import RewardsStack
from infra.stacks.runs import RunsStack
from infra.stacks.scoring import ScoringStack
from infra.stacks.tasks import TasksStack
from infra.stacks.webhooks import WebhooksStack


class ServiceStack(Stack):
    """Holds no data: it can be deleted and deployed again over the data stack.

    The stack of a domain is given those that it knows, which are always made before it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: DeploymentConfig,
        data: DataStack,
        **stack_inputs: Any,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Autotune: API, queues, workflows and functions, by domain",
            **stack_inputs,
        )
        for bucket in (
            data.content,
            data.audit_archive,
            data.exports,
            data.ledger_texts,
            data.apprentice_files,
        ):
            bucket.acknowledge_object_wildcard(self)
        alarms = AlarmTopic(self, "Alarms", encryption_key=data.data_key.key)
        shared = Shared(
            service_name=construct_id,
            config=config,
            data=data,
            package=ServicePackage(
                self,
                "Package",
                platform=config.build_platform,
                has_oidc=config.oidc is not None,
            ),
            alarm_topic=alarms.topic,
        )
        http = HttpStack(self, shared=shared)
        AccessStack(self, shared=shared, http=http)
        audit = AuditStack(self, shared=shared, http=http)
        webhooks = WebhooksStack(self, shared=shared, http=http)
        TasksStack(self, shared=shared, http=http)
        completions = CompletionsStack(self, shared=shared, http=http)
        projections = ProjectionsStack(self, shared=shared, http=http, webhooks=webhooks)
        RunsStack(self, shared=shared, http=http)
        OverviewStack(self, shared=shared, http=http)
        scoring = ScoringStack(
            self, shared=shared, http=http, webhooks=webhooks, completions=completions
        )
        GradersStack(self, shared=shared, http=http, scoring=scoring)
        ReviewsStack(self, shared=shared, http=http, scoring=scoring)
        ConsoleStack(self, shared=shared, http=http)
        rewards = RewardsStack(self, shared=shared, http=http, completions=completions)
        ExportsStack(self, shared=shared, http=http)
        ledger = LedgerStack(self, shared=shared, http=http)
        decks = DecksStack(self, shared=shared, http=http, ledger=ledger)
        apprentice = ApprenticeStack(self, shared=shared, http=http, ledger=ledger)
        CompatibleStack(
            self, shared=shared, http=http, ledger=ledger, decks=decks, apprentice=apprentice
        )
        operations = OperationsStack(self, shared=shared, completions=completions)

        http.api.open(
            self,
            throttle=Throttle(
                requests_per_second=config.api_requests_per_second,
                burst_requests=config.api_burst_requests,
            ),
            keyless=Throttle(
                requests_per_second=config.keyless_requests_per_second,
                burst_requests=config.keyless_burst_requests,
            ),
        )
        ObservabilityStack(
            self,
            shared=shared,
            http=http,
            completions=completions,
            scoring=scoring,
            webhooks=webhooks,
            ledger=ledger,
            train_student=apprentice.train_student,
        )

        by_operators = "Operators invoke it: docs/guides/operators.md"
        waits = "Waits for scores behind reward URLs: docs/guides/operators.md"
        for name, function, description in (
            ("CreateOrganization", operations.create_organization, by_operators),
            ("ManageOrganizations", operations.manage_organizations, by_operators),
            ("DeleteOrganization", operations.delete_organization, by_operators),
            ("ExportAudit", audit.export, by_operators),
            ("SweepBatches", scoring.sweep, by_operators),
            ("ListStuck", operations.list_stuck, by_operators),
            ("RedriveDeadLetters", operations.redrive, by_operators),
            ("ScoreSimilarity", apprentice.students.similarity, by_operators),
            ("Trainers", rewards.trainers, waits),
        ):
            function_name = function.function.function_name
            self._add_output(f"{name}FunctionName", function_name, description)
        self._add_output(
            "ApprenticeBucketName",
            data.apprentice_files.bucket.bucket_name,
            "Operators put embedding models and base models there: docs/guides/operators.md",
        )
        self._add_output("ApiUrl", http.api.api.api_endpoint, "Base URL of the API")
        self._add_output(
            "ApiId", http.api.api.api_id, "Identifies the API where it has no host name of its own"
        )
        self._add_output(
            "AlarmTopicArn", alarms.topic.topic_arn, "Subscribe to it to hear of alarms"
        )
        self._add_output(
            "ReviewTopicArn",
            projections.review_topic.topic_arn,
            "Subscribe to it to hear of reviews that people are asked for",
        )

    def _add_output(self, name: str, value: str, description: str) -> None:
        CfnOutput(self, name, value=value, description=description)
