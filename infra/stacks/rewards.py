"""Reward URLs: the API that makes them, and the function that answers at them."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.content_bucket import OF_COMPLETIONS
from infra.constructs.function_url import FunctionUrl
from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.stacks.completions import OPEN_COUNTS, CompletionsStack
from infra.stacks.domain_stack import DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BY_COLLECTION_INDEX

# The longest that Lambda lets a function run: it waits for scores in it.
ANSWER_TIMEOUT = Duration.minutes(15)
CLAIMS_OF_QUESTIONS = "question#*"


class RewardsStack(DomainStack):
    """Lets trainers ask that can only call a URL.

    Attributes:
        trainers: Waits for scores, so that operators limit it.
    """

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, completions: CompletionsStack
    ) -> None:
        super().__init__(scope, domain="rewards", shared=shared, holds="reward URLs")
        self.trainers = self._create_trainers(completions)
        # Trainers send a URL and a body, and can sign nothing: the function checks the path's
        # token.
        address = FunctionUrl(
            self, "RewardUrl", handler=self.trainers, origin=shared.config.api_origin
        )
        rewards = self.create_api("RewardsApi", environment={"REWARD_URL": address.base})
        shared.data.registry.grant_write(rewards.function, "PutItem", "UpdateItem", keys="rwu_*")
        shared.data.registry.grant_query_index(rewards.function, index_name=BY_COLLECTION_INDEX)
        shared.data.secrets_keys.grant_derive(rewards, "reward-url")
        self.grant_count_entities(rewards)
        http.api.route(rewards, paths=resource_paths("reward-urls"))

    def _create_trainers(self, completions: CompletionsStack) -> ServiceFunction:
        data = self.shared.data
        trainers = self.create_keyless_api(
            "TrainersApi",
            module="answer_trainers",
            timeout=ANSWER_TIMEOUT,
            environment={
                **self.content_environment,
                **completions.queue_environment,
                "BUDGETS_TABLE": data.budgets.table.table_name,
            },
            most_at_once=self.shared.config.waiting_functions,
        )
        data.registry.grant_read(trainers.function, "BatchGetItem", "GetItem")
        data.registry.grant_write(trainers.function, "PutItem", keys=CLAIMS_OF_QUESTIONS)
        # It deletes nothing: whoever has a reward URL may call it.
        self.grant_count_requests(trainers)
        self.grant_share_waiting(trainers)
        data.completions.grant_read(trainers.function, "BatchGetItem", "GetItem")
        data.completions.grant_read(trainers.function, "Query", keys=OPEN_COUNTS)
        data.completions.grant_write(trainers.function, "BatchWriteItem", "PutItem", "UpdateItem")
        data.content.grant_put(trainers.function, names=OF_COMPLETIONS)
        data.secrets_keys.grant_derive(trainers, "reward-url")
        completions.queues["Normal"].grant_send(trainers)
        return trainers
