"""Graders: their registration, and what watches their health."""

from aws_cdk import Duration
from constructs import Construct

from infra.constructs.signed_api import resource_paths
from infra.stacks.domain_stack import GRADERS, HEALTH, WINDOWS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.scoring import PARKED_RUNS, ScoringStack
from infra.tables import BY_COLLECTION_INDEX

PROBE_INTERVAL = Duration.minutes(5)
# Shorter than the interval, so that no run meets the next one of its shard.
PROBE_TIMEOUT = Duration.minutes(4)
# As many as the repository of graders spreads their health over.
HEALTH_SHARDS = 4


class GradersStack(DomainStack):
    """Holds the function of graders, and the one that probes them."""

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, scoring: ScoringStack
    ) -> None:
        super().__init__(scope, domain="graders", shared=shared, holds="registration and health")
        budgets = shared.data.budgets
        graders = self.create_api(
            "GradersApi",
            environment={
                **self.grader_environment,
                **http.url_environment,
                "BUDGETS_TABLE": budgets.table.table_name,
                "COMPLETIONS_TABLE": shared.data.completions.table.table_name,
            },
            # A grader that hangs holds its verification for as long as the API lets it.
            most_at_once=shared.config.slow_functions or None,
        )
        shared.data.secrets_keys.grant_derive(graders, "grader")
        budgets.grant_read(graders.function, "GetItem")
        budgets.grant_write(graders.function, "PutItem", keys=GRADERS)
        self.grant_share_waiting(graders)
        shared.data.registry.grant_read(graders.function, "Query")
        shared.data.completions.grant_read(graders.function, "Query", keys=WINDOWS)
        for keys in (GRADERS, HEALTH):
            shared.data.registry.grant_write(graders.function, "DeleteItem", "PutItem", keys=keys)
        shared.data.registry.grant_query_index(graders.function, index_name=BY_COLLECTION_INDEX)
        self.grant_count_entities(graders)
        http.api.route(graders, paths=resource_paths("graders"))
        self._add_probing(scoring)

    def _add_probing(self, scoring: ScoringStack) -> None:
        """Ask graders for their health every five minutes, each shard's in a run of its own.

        Runs that are parked for one that is well are woken.
        """
        data = self.shared.data
        probe = self.create(
            "ProbeGraders",
            module="probe_graders",
            description="Asks graders for their health and has their status follow",
            timeout=PROBE_TIMEOUT,
            environment={
                **self.grader_environment,
                "BUDGETS_TABLE": data.budgets.table.table_name,
                "COMPLETIONS_TABLE": data.completions.table.table_name,
            },
        )
        data.registry.grant_read(probe.function, "GetItem", "Query")
        for keys in (GRADERS, HEALTH):
            data.registry.grant_write(probe.function, "PutItem", keys=keys)
        data.secrets_keys.grant_derive(probe, "grader")
        data.budgets.grant_read(probe.function, "GetItem")
        data.completions.grant_read(probe.function, "Query", keys=PARKED_RUNS)
        data.completions.grant_write(probe.function, "DeleteItem", keys=PARKED_RUNS)
        scoring.workflow.grant_wake(probe)
        shards = [{"shard": shard} for shard in range(HEALTH_SHARDS)]
        self.run_every(PROBE_INTERVAL, probe, inputs=shards)
        self.alarms.watch_log(
            probe,
            name="GradersDown",
            message="grader is down",  # as ``graders.probing`` words it
            description="Graders went down: half an hour of probes failed",
        )
