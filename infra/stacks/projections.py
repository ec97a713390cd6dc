"""What follows changes of completions: it publishes verdicts and reviews, counts, and cleans up."""

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.content_bucket import OF_COMPLETIONS
from infra.constructs.service_function import WHOLE_PROCESSOR_MB
from infra.constructs.stream_consumer import StreamConsumer
from infra.stacks.domain_stack import (
    AUDIT_OF_ANY_ORGANIZATION,
    CALLS,
    GRADERS,
    HEALTH,
    DomainStack,
    Shared,
)
from infra.stacks.http import HttpStack
from infra.stacks.webhooks import WebhooksStack

FOLLOW_TIMEOUT = Duration.seconds(60)
DECISION_LISTS = "decided#"
VERDICTS = "verdict#"
OPINIONS = "opinion#"
# Of a batch of one, which has no lists.
ALONE = "alone"
REVIEW = "review"
CONTENT = "content"
COMPLETIONS = "cmp_*"
PANELS = "pnl_*"
REVIEWS = "rev_*"


class ProjectionsStack(DomainStack):
    """Holds the two functions that follow the table of completions; a third could not read it.

    Attributes:
        review_topic: Announces each review; it holds neither prompt nor response.
    """

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, webhooks: WebhooksStack
    ) -> None:
        super().__init__(
            scope, domain="projections", shared=shared, holds="what follows completions"
        )
        self.review_topic = sns.Topic(
            self,
            "ReviewTopic",
            display_name="Autotune reviews",
            master_key=shared.data.data_key.key,
            enforce_ssl=True,
        )
        verdicts = self._follow_verdicts(webhooks)
        changes = self._follow_changes(http, webhooks)
        self.alarms.watch_stream(verdicts, name="ProjectVerdicts")
        self.alarms.watch_stream(changes, name="FollowChanges")

    def _follow_verdicts(self, webhooks: WebhooksStack) -> StreamConsumer:
        """Publish verdicts to organisations, and count them."""
        data = self.shared.data
        project = self.create(
            "ProjectVerdicts",
            module="project_verdicts",
            description="Publishes verdicts, counts and audits them",
            timeout=FOLLOW_TIMEOUT,
            environment={
                **self.content_environment,
                **self.audit_environment,
                **webhooks.publisher_environment,
            },
        )
        data.completions.grant_read(project.function, "BatchGetItem")
        data.completions.grant_write(project.function, "UpdateItem")
        webhooks.grant_publish(project)
        data.audit.grant_write(project.function, "UpdateItem", keys=AUDIT_OF_ANY_ORGANIZATION)
        for keys in (GRADERS, HEALTH):
            data.registry.grant_write(project.function, "UpdateItem", keys=keys)
        self.alarms.watch_log(
            project,
            name="PlatformErrorPercent",
            message="verdicts counted",  # as ``projections.counting`` words it
            value="$.platform_error_percent",
            statistic="Average",
            threshold=1,
            description="Over one verdict in a hundred failed for an error of ours",
        )
        return StreamConsumer(
            self,
            "VerdictStream",
            table=data.completions,
            consumer=project,
            inserted=[DECISION_LISTS],
            inserted_if=[(VERDICTS, ALONE), (OPINIONS, ALONE)],
        )

    def _follow_changes(self, http: HttpStack, webhooks: WebhooksStack) -> StreamConsumer:
        """Announce reviews that are asked for, and delete what is left of texts that expired.

        The table's time to live removes the items. The stream carries a removed item's keys, and
        the names of a large text, of verdicts and of reviews follow from them.
        """
        data = self.shared.data
        follow = self.create(
            "FollowChanges",
            module="follow_changes",
            description="Announces reviews, and deletes what is left of texts that have expired",
            timeout=FOLLOW_TIMEOUT,
            # Of each text that expires it reads what may quote it, and reviews wait behind them.
            memory_mb=WHOLE_PROCESSOR_MB,
            environment={
                **self.content_environment,
                **webhooks.publisher_environment,
                **http.url_environment,
                "REVIEW_TOPIC_ARN": self.review_topic.topic_arn,
            },
        )
        webhooks.grant_publish(follow)
        data.content.grant_delete(follow.function, names=OF_COMPLETIONS)
        data.completions.grant_read(follow.function, "Query", keys=COMPLETIONS)
        data.completions.grant_write(follow.function, "UpdateItem", keys=COMPLETIONS)
        # Answers that graders sent later, and whether anybody still waits for them.
        for keys in (CALLS, COMPLETIONS, PANELS):
            data.completions.grant_read(follow.function, "BatchGetItem", keys=keys)
        data.completions.grant_write(follow.function, "DeleteItem", "UpdateItem", keys=CALLS)
        data.completions.grant_read(follow.function, "GetItem", keys=REVIEWS)
        data.completions.grant_write(follow.function, "PutItem", keys=REVIEWS)
        data.secrets_keys.grant_derive(follow, "review-link")
        # Not the topic's own grant, which would let the function use the data key for anything.
        iam.Grant.add_to_principal(
            grantee=follow.function,
            actions=["sns:Publish"],
            resource_arns=[self.review_topic.topic_arn],
        )
        data.data_key.grant_use_via(follow.function, service="sns", writes=True)
        return StreamConsumer(
            self,
            "CompletionChanges",
            table=data.completions,
            consumer=follow,
            inserted=[REVIEW],
            removed=[CONTENT],
        )
