"""Runs of decks: requested over the API, worked on in a loop of steps, redriven if one is lost."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.config import REPOSITORY_ROOT
from infra.constructs.content_bucket import OF_DECKS
from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.constructs.workflow import Workflow
from infra.stacks.domain_stack import GRADERS, MONEY, DomainStack
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack
from infra.tables import BY_COLLECTION_INDEX

# A step goes on until its time is nearly over.
WORK_TIMEOUT = Duration.minutes(5)
# Some thousand samples are read and measured in seconds.
EDIT_TIMEOUT = Duration.seconds(120)
SWEEP_TIMEOUT = Duration.seconds(60)
COUNTED_DECKS = "org_*#decks"
DECKS = "dck_*"
PROMPTS = "org_*#prompt#*"
TEMPLATES = "org_*#templates"
RUNS = "drn_*"
SAMPLES = "smp_*"
STATE_MACHINE_DEFINITION = REPOSITORY_ROOT / "statemachines" / "work_deck_run.asl.json"
RUN_PATHS = (
    "/api/v1/decks/{deckId}/estimate",
    "/api/v1/decks/{deckId}/runs",
    "/api/v1/decks/{deckId}/runs/{proxy+}",
    "/api/v1/decks/{deckId}/graders/propose",
    "/api/v1/decks/{deckId}/graders/propose/estimate",
    "/api/v1/decks/{deckId}/graders/{graderId}/results",
    "/api/v1/decks/{deckId}/samples/{sampleId}/results",
)


class DeckRuns(Construct):
    """The workflow that has samples judged, and the functions around it.

    Attributes:
        workflow: What works on runs.
    """

    def __init__(
        self,
        stack: DomainStack,
        *,
        environment: Mapping[str, str],
        http: HttpStack,
        ledger: LedgerStack,
    ) -> None:
        """Makes all of it in the stack of decks.

        Args:
            stack: That stack.
            environment: For functions that read or write decks.
            http: The API.
            ledger: What asks language models.
        """
        super().__init__(stack, "Runs")
        self._stack = stack
        self._ledger = ledger
        data = stack.shared.data
        self._environment: Mapping[str, str] = {
            **environment,
            "CONTENT_BUCKET": data.content.bucket.bucket_name,
            "LEDGER_TABLE": data.ledger.table.table_name,
            "LEDGER_BUCKET": data.ledger_texts.bucket.bucket_name,
            "BUDGETS_TABLE": data.budgets.table.table_name,
            **ledger.start_environment,
        }
        work = self._create_work()
        self.workflow = Workflow(
            stack,
            "WorkDeckRun",
            service_name=stack.shared.service_name,
            definition=STATE_MACHINE_DEFINITION,
            functions={
                "AdvanceDeckRunFunctionArn": work,
                "AdvanceDeckEditsFunctionArn": self._create_edit_work(),
            },
        )
        stack.alarms.watch_runs(self.workflow.state_machine, name="WorkDeckRun")
        self._starting = {"WORK_DECK_RUN_ARN": self.workflow.state_machine.state_machine_arn}
        self._add_sweep(environment)
        self._add_api(http)
        self._add_edits(http)

    def _create_work(self) -> ServiceFunction:
        functions = self._stack.shared.config.slow_functions or None
        work = self._stack.create(
            "AdvanceDeckRun",
            module="advance_deck_run",
            description="Has samples of decks judged, and stores what judges say",
            timeout=WORK_TIMEOUT,
            environment={
                **self._environment,
                # No organisation has more than its share of them at work.
                **({} if functions is None else {"SLOW_FUNCTIONS": str(functions)}),
            },
            most_at_once=functions,
        )
        self._stack.grant_share_waiting(work)
        data = self._stack.shared.data
        data.registry.grant_read(work.function, "GetItem")
        data.decks.grant_read(work.function, "BatchGetItem", "GetItem", "Query")
        for keys in (DECKS, RUNS, GRADERS, SAMPLES):
            data.decks.grant_write(work.function, "PutItem", keys=keys)
        for keys in (DECKS, RUNS, GRADERS, SAMPLES):
            data.decks.grant_write(work.function, "DeleteItem", keys=keys)
        # What is proposed is counted by its deck, and what a run cost.
        for keys in (DECKS, COUNTED_DECKS):
            data.decks.grant_write(work.function, "UpdateItem", keys=keys)
        # Judgements that fresh labels speak against suspend a calibration.
        data.registry.grant_write(work.function, "PutItem", keys=GRADERS)
        data.content.grant_read(work.function, names=OF_DECKS)
        # Responses are stored as samples, and go again where their source went meanwhile.
        data.content.grant_put(work.function, names=OF_DECKS)
        data.content.grant_delete(work.function, names=OF_DECKS)
        self._stack.grant_orders(work)
        self._ledger.grant_start(work)
        return work

    def _create_edit_work(self) -> ServiceFunction:
        work = self._stack.create(
            "AdvanceDeckEdits",
            module="advance_deck_edits",
            description="Measures edits of rubrics, and takes those that models propose",
            timeout=EDIT_TIMEOUT,
            environment=self._environment,
            computes=True,
        )
        data = self._stack.shared.data
        data.registry.grant_read(work.function, "GetItem")
        data.decks.grant_read(work.function, "BatchGetItem", "GetItem", "Query")
        # What a proposal has paid is added to what its deck has.
        data.decks.grant_write(work.function, "PutItem", "UpdateItem", keys=DECKS)
        data.content.grant_read(work.function, names=OF_DECKS)
        self._stack.grant_orders(work)
        self._ledger.grant_start(work)
        return work

    def _add_sweep(self, environment: Mapping[str, str]) -> None:
        sweep = self._stack.create(
            "SweepDeckRuns",
            module="sweep_runs",
            description="Redrives runs of decks whose execution was lost",
            timeout=SWEEP_TIMEOUT,
            environment={**environment, **self._starting},
        )
        decks = self._stack.shared.data.decks
        decks.grant_read(sweep.function, "GetItem", keys=DECKS)
        decks.grant_query_index(sweep.function, index_name=BY_COLLECTION_INDEX)
        decks.grant_write(sweep.function, "PutItem", keys=DECKS)
        for keys in (RUNS, GRADERS):
            decks.grant_write(sweep.function, "DeleteItem", keys=keys)
        for keys in (DECKS, COUNTED_DECKS):
            decks.grant_write(sweep.function, "UpdateItem", keys=keys)
        self.workflow.state_machine.grant_start_execution(sweep.function)
        self._stack.run_every(Duration.minutes(1), sweep)

    def _add_api(self, http: HttpStack) -> None:
        runs = self._stack.create_api(
            "DeckRunsApi", module="runs_api", environment={**self._environment, **self._starting}
        )
        data = self._stack.shared.data
        data.decks.grant_read(runs.function, "BatchGetItem", "GetItem", "Query")
        for keys in (DECKS, GRADERS):
            data.decks.grant_write(runs.function, "PutItem", keys=keys)
        # To whom results are shown is noted: what they say of the samples then is not blind.
        for keys in (GRADERS, RUNS):
            data.decks.grant_write(runs.function, "BatchWriteItem", keys=keys)
        for keys in (DECKS, COUNTED_DECKS):
            data.decks.grant_write(runs.function, "UpdateItem", keys=keys)
        data.budgets.grant_read(runs.function, "GetItem", keys=MONEY)
        self.workflow.state_machine.grant_start_execution(runs.function)
        http.api.route(runs, paths=RUN_PATHS)
        # A model may propose graders of a new deck at once; where it cannot, the deck goes again.
        data.decks.grant_write(runs.function, "DeleteItem", keys=DECKS)
        data.decks.grant_write(runs.function, "PutItem", keys=PROMPTS)
        data.decks.grant_write(runs.function, "PutItem", "UpdateItem", keys=TEMPLATES)
        http.api.route(runs, paths=["/api/v1/decks"], method=apigateway.HttpMethod.POST)

    def _add_edits(self, http: HttpStack) -> None:
        """Routes edits of rubrics, which start replays and are measured with numpy."""
        edits = self._stack.create_api(
            "DeckEditsApi",
            module="edits_api",
            environment={**self._environment, **self._starting},
            computes=True,
        )
        data = self._stack.shared.data
        data.decks.grant_read(edits.function, "BatchGetItem", "GetItem", "Query")
        for keys in (DECKS, GRADERS):
            data.decks.grant_write(edits.function, "PutItem", keys=keys)
        data.decks.grant_write(edits.function, "BatchWriteItem", keys=RUNS)
        for keys in (DECKS, COUNTED_DECKS):
            data.decks.grant_write(edits.function, "UpdateItem", keys=keys)
        data.content.grant_read(edits.function, names=OF_DECKS)
        self._stack.grant_orders(edits)
        self._ledger.grant_start(edits)
        self.workflow.state_machine.grant_start_execution(edits.function)
        # An edited system prompt is a version of its deck.
        data.decks.grant_write(edits.function, "PutItem", keys=PROMPTS)
        data.decks.grant_write(edits.function, "PutItem", "UpdateItem", keys=TEMPLATES)
        for of in ("graders/{graderId}/edits", "prompt-edits"):
            http.api.route(edits, paths=resource_paths(f"decks/{{deckId}}/{of}"))
