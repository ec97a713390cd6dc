"""Decks, and the samples in them."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.constructs.content_bucket import OF_DECKS
from infra.constructs.service_function import ServiceFunction
from infra.constructs.signed_api import resource_paths
from infra.constructs.work_queue import DrainRate, WorkQueue
from infra.stacks.deck_runs import PROMPTS, TEMPLATES, DeckRuns
from infra.stacks.domain_stack import GRADERS, HEALTH, REQUESTS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.stacks.ledger import LedgerStack
from infra.tables import BY_COLLECTION_INDEX, DUE_DECKS_INDEX

DECKS = "dck_*"
SAMPLES = "smp_*"
TASKS = "task_*"
ERASE_TIMEOUT = Duration.minutes(5)
COUNTED_DECKS = "org_*#decks"
INGEST_URLS = "igu_*"
CALLS = "org_*#call#*"
UNMATCHED = "org_*#unmatched"
UNMATCHED_PROMPTS = "ump_*"
CAPTURE_SETTINGS = "org_*#capture"
CAPTURE_TIMEOUT = Duration.seconds(60)
# One call a function: one that takes long, or cannot be captured, holds up no other.
CAPTURE_RATE = DrainRate(max_concurrency=10, batching_window_seconds=0, batch_size=1)
LONGEST_CAPTURE = Duration.minutes(15)
OF_GRADER = "decks/{deckId}/graders/{graderId}"


class DecksStack(DomainStack):
    """Holds the functions of decks.

    Attributes:
        deck_environment: For functions that read or write decks.
        sample_environment: For functions that read or write their samples as well.
        runs: The workflow that has samples judged.
        captures: Chat completions of which samples may be made.
    """

    def __init__(
        self, scope: Construct, *, shared: Shared, http: HttpStack, ledger: LedgerStack
    ) -> None:
        super().__init__(scope, domain="decks", shared=shared, holds="rubric graders of prompts")
        self.deck_environment: Mapping[str, str] = {
            "DECKS_TABLE": shared.data.decks.table.table_name,
        }
        self.sample_environment: Mapping[str, str] = {
            **self.deck_environment,
            "CONTENT_BUCKET": shared.data.content.bucket.bucket_name,
        }
        self._add_decks(http)
        self._add_samples(http)
        self._add_telemetry(http)
        self._add_ingest(http)
        self._add_feedback(http)
        self._add_measures(http)
        self._add_erasure()
        self._add_expiry()
        self.captures = self._add_capture()
        self.runs = DeckRuns(self, environment=self.deck_environment, http=http, ledger=ledger)

    def _add_decks(self, http: HttpStack) -> None:
        decks = self.create_api("DecksApi", environment=self.deck_environment)
        table = self.shared.data.decks
        table.grant_read(decks.function, "BatchGetItem", "GetItem", "Query", keys=DECKS)
        table.grant_query_index(decks.function, index_name=BY_COLLECTION_INDEX)
        table.grant_write(decks.function, "DeleteItem", "PutItem", "UpdateItem", keys=DECKS)
        table.grant_write(decks.function, "UpdateItem", keys=COUNTED_DECKS)
        self.grant_index_prompts(decks)
        self.shared.data.registry.grant_write(decks.function, "PutItem", keys=TASKS)
        self.grant_count_entities(decks)
        table.grant_read(decks.function, "GetItem", keys=CAPTURE_SETTINGS)
        table.grant_write(decks.function, "PutItem", keys=CAPTURE_SETTINGS)
        for resource in ("decks", "deck-capture"):
            http.api.route(decks, paths=resource_paths(resource))

    def grant_index_prompts(self, function: ServiceFunction) -> None:
        """Lets a function that stores versions of decks put their prompts into the index."""
        table = self.shared.data.decks
        table.grant_write(function.function, "PutItem", keys=PROMPTS)
        table.grant_write(function.function, "PutItem", "UpdateItem", keys=TEMPLATES)

    def _add_capture(self) -> WorkQueue:
        """Makes samples of chat completions; the queue has their ids, and the ledger the rest."""
        data = self.shared.data
        queue = WorkQueue(
            self,
            "Captures",
            name="captures",
            consumer_timeout=CAPTURE_TIMEOUT,
            drain_rate=CAPTURE_RATE,
        )
        self.alarms.watch_dead_letters(queue.dead_letters, of="Captures")
        self.alarms.watch_waiting(queue.queue, of="Captures", longest=LONGEST_CAPTURE)
        capture = self.create(
            "CaptureCalls",
            module="capture_calls",
            description="Makes samples of chat completions that were passed through",
            timeout=CAPTURE_TIMEOUT,
            environment={
                **self.sample_environment,
                "LEDGER_TABLE": data.ledger.table.table_name,
                "LEDGER_BUCKET": data.ledger_texts.bucket.bucket_name,
            },
        )
        self.grant_take_calls(capture)
        data.decks.grant_read(capture.function, "GetItem", keys=CAPTURE_SETTINGS)
        data.ledger.grant_read(capture.function, "BatchGetItem", "GetItem", keys=REQUESTS)
        data.ledger_texts.grant_read(capture.function)
        queue.drain_into(capture)
        return queue

    def grant_take_calls(self, function: ServiceFunction) -> None:
        """Lets a function make samples of captured calls, and count those that no deck has.

        It needs ``sample_environment``.
        """
        data, table = self.shared.data, self.shared.data.decks
        table.grant_read(function.function, "Query", keys=PROMPTS)
        table.grant_read(function.function, "GetItem", "Query", keys=TEMPLATES)
        table.grant_read(function.function, "BatchGetItem", "GetItem", keys=DECKS)
        table.grant_write(function.function, "PutItem", "UpdateItem", keys=DECKS)
        table.grant_write(function.function, "PutItem", keys=SAMPLES)
        table.grant_read(function.function, "GetItem", keys=CALLS)
        table.grant_write(function.function, "PutItem", "UpdateItem", keys=CALLS)
        self._grant_unmatched(function)
        data.content.grant_put(function.function, names=OF_DECKS)
        data.content.grant_delete(function.function, names=OF_DECKS)

    def _grant_unmatched(self, function: ServiceFunction) -> None:
        """Lets a function list, count and erase prompts that no deck has."""
        table = self.shared.data.decks
        table.grant_read(function.function, "GetItem", "Query", keys=UNMATCHED)
        table.grant_write(function.function, "DeleteItem", "PutItem", "UpdateItem", keys=UNMATCHED)
        table.grant_read(
            function.function, "BatchGetItem", "GetItem", "Query", keys=UNMATCHED_PROMPTS
        )
        table.grant_write(
            function.function, "DeleteItem", "PutItem", "UpdateItem", keys=UNMATCHED_PROMPTS
        )

    def _add_samples(self, http: HttpStack) -> None:
        data = self.shared.data
        samples = self.create_api(
            "SamplesApi",
            module="samples_api",
            environment=self.sample_environment,
        )
        data.decks.grant_read(samples.function, "BatchGetItem", "GetItem", "Query", keys=DECKS)
        data.decks.grant_read(samples.function, "BatchGetItem", "Query", keys=SAMPLES)
        # What judges and people said of a sample goes with it; lines of uploads bring labels.
        data.decks.grant_read(samples.function, "BatchGetItem", "Query", keys=GRADERS)
        data.decks.grant_write(
            samples.function, "DeleteItem", "PutItem", "UpdateItem", keys=GRADERS
        )
        data.decks.grant_write(samples.function, "DeleteItem", "PutItem", "UpdateItem", keys=DECKS)
        data.decks.grant_write(samples.function, "DeleteItem", "PutItem", keys=SAMPLES)
        # So do texts of a sample that is an example of what is published; labels may suspend it.
        data.registry.grant_write(samples.function, "PutItem", keys=GRADERS)
        data.content.grant_read(samples.function, names=OF_DECKS)
        data.content.grant_put(samples.function, names=OF_DECKS)
        data.content.grant_delete(samples.function, names=OF_DECKS)
        below = "/api/v1/decks/{deckId}/samples"
        http.api.route(samples, paths=[below, f"{below}/{{proxy+}}"])

    def _add_telemetry(self, http: HttpStack) -> None:
        """Routes samples that find their deck, and prompts that no deck has."""
        telemetry = self.create_api(
            "DeckTelemetryApi", module="telemetry_api", environment=self.sample_environment
        )
        self.grant_take_calls(telemetry)
        # A deck is made of a prompt.
        table = self.shared.data.decks
        table.grant_write(telemetry.function, "UpdateItem", keys=COUNTED_DECKS)
        self.grant_index_prompts(telemetry)
        http.api.route(telemetry, paths=["/api/v1/samples", *resource_paths("unmatched-prompts")])

    def _add_ingest(self, http: HttpStack) -> None:
        """Routes ingest URLs, and what is handed over at them: the function checks their token."""
        data = self.shared.data
        urls = self.create_api(
            "IngestUrlsApi",
            module="ingest_urls_api",
            environment={**self.deck_environment, **http.url_environment},
        )
        data.decks.grant_read(urls.function, "GetItem", keys=DECKS)
        data.registry.grant_write(urls.function, "PutItem", "UpdateItem", keys=INGEST_URLS)
        data.registry.grant_query_index(urls.function, index_name=BY_COLLECTION_INDEX)
        self.grant_count_entities(urls)
        http.api.route(urls, paths=resource_paths("ingest-urls"))

        ingest = self.create_keyless_api(
            "IngestApi", module="ingest_api", environment=self.sample_environment
        )
        data.registry.grant_read(ingest.function, "GetItem")
        self.grant_count_requests(ingest)
        self.grant_take_calls(ingest)
        data.decks.grant_write(ingest.function, "UpdateItem", keys=COUNTED_DECKS)
        self.grant_index_prompts(ingest)
        http.api.route(ingest, paths=["/i/{proxy+}"], keyless=True)

    def _add_feedback(self, http: HttpStack) -> None:
        """Routes ratings, which lie in the partition of their grader."""
        feedback = self.create_api(
            "DeckFeedbackApi",
            module="feedback_api",
            environment=self.sample_environment,
        )
        table = self.shared.data.decks
        table.grant_read(feedback.function, "BatchGetItem", "GetItem", "Query", keys=DECKS)
        table.grant_read(feedback.function, "BatchGetItem", "GetItem", "Query", keys=GRADERS)
        table.grant_read(feedback.function, "BatchGetItem", keys=SAMPLES)
        table.grant_write(
            feedback.function,
            "BatchWriteItem",
            "DeleteItem",
            "PutItem",
            "UpdateItem",
            keys=GRADERS,
        )
        table.grant_query_index(feedback.function, index_name=BY_COLLECTION_INDEX)
        # Labels that speak against a calibration suspend it, here and in the registry; and that a
        # version's results were shown first is noted with the looks at held-out labels.
        table.grant_write(feedback.function, "PutItem", keys=DECKS)
        self.shared.data.registry.grant_write(feedback.function, "PutItem", keys=GRADERS)
        self.shared.data.content.grant_read(feedback.function, names=OF_DECKS)
        http.api.route(
            feedback,
            paths=[
                "/api/v1/deck-inbox",
                *resource_paths(f"{OF_GRADER}/feedback"),
                *resource_paths(f"{OF_GRADER}/truth"),
            ],
        )
        http.api.route(
            feedback,
            paths=["/api/v1/decks/{deckId}/labels"],
            method=apigateway.HttpMethod.GET,
        )

    def _add_measures(self, http: HttpStack) -> None:
        """Routes what is computed with numpy; that results were shown is noted."""
        measures = self.create_api(
            "DeckMeasuresApi",
            module="measures_api",
            environment=self.deck_environment,
            computes=True,
        )
        table = self.shared.data.decks
        # Looks of all graders of the deck are read: those at the same labels count together.
        table.grant_read(measures.function, "BatchGetItem", "GetItem", "Query", keys=DECKS)
        table.grant_read(measures.function, "BatchGetItem", "Query", keys=GRADERS)
        table.grant_write(measures.function, "BatchWriteItem", keys=GRADERS)
        # Looks at held-out labels are spent, and what is published is noted.
        table.grant_write(measures.function, "PutItem", "UpdateItem", keys=DECKS)
        # Both are read by GET, and spend a look by POST.
        http.api.route(
            measures, paths=[f"/api/v1/{OF_GRADER}/{it}" for it in ("agreement", "means")]
        )
        for name in ("disagreements", "patterns"):
            http.api.route(
                measures,
                paths=[f"/api/v1/{OF_GRADER}/{name}"],
                method=apigateway.HttpMethod.GET,
            )
        self._add_publishing(measures, http)

    def _add_publishing(self, measures: ServiceFunction, http: HttpStack) -> None:
        """Routes publishing: what was measured goes into the registry with the grader."""
        data = self.shared.data
        data.registry.grant_write(measures.function, "PutItem", keys=GRADERS)
        data.registry.grant_write(measures.function, "DeleteItem", keys=HEALTH)
        self.grant_count_entities(measures)
        http.api.route(
            measures,
            paths=[f"/api/v1/{OF_GRADER}/publish"],
            method=apigateway.HttpMethod.POST,
        )

    def _add_erasure(self) -> None:
        data = self.shared.data
        erase = self.create(
            "EraseDecks",
            module="erase_decks",
            description="Erases what belongs to deleted decks",
            timeout=ERASE_TIMEOUT,
            environment=self.sample_environment,
        )
        data.decks.grant_query_index(erase.function, index_name=BY_COLLECTION_INDEX)
        for keys in (DECKS, GRADERS, SAMPLES):
            data.decks.grant_read(erase.function, "Query", keys=keys)
        for keys in (DECKS, GRADERS, SAMPLES):
            data.decks.grant_write(erase.function, "BatchWriteItem", keys=keys)
        data.decks.grant_write(erase.function, "DeleteItem", keys=DECKS)
        data.decks.grant_write(erase.function, "DeleteItem", keys=PROMPTS)
        data.decks.grant_write(
            erase.function, "DeleteItem", "PutItem", "UpdateItem", keys=TEMPLATES
        )
        data.registry.grant_read(erase.function, "GetItem", keys=GRADERS)
        data.registry.grant_write(erase.function, "PutItem", keys=GRADERS)
        data.content.grant_delete(erase.function, names=OF_DECKS, finds=True)
        self.run_every(Duration.minutes(2), erase)

    def _add_expiry(self) -> None:
        """Has captured calls erased once their time is over, with what was said of them."""
        data = self.shared.data
        expired = self.create(
            "EraseExpired",
            module="erase_expired",
            description="Erases captured samples and prompts whose time is over",
            timeout=ERASE_TIMEOUT,
            environment=self.sample_environment,
        )
        table, function = data.decks, expired.function
        table.grant_query_index(function, index_name=DUE_DECKS_INDEX)
        table.grant_read(function, "BatchGetItem", "GetItem", "Query", keys=DECKS)
        table.grant_write(function, "DeleteItem", "UpdateItem", keys=DECKS)
        table.grant_read(function, "GetItem", "Query", keys=SAMPLES)
        table.grant_write(function, "DeleteItem", keys=SAMPLES)
        table.grant_read(function, "Query", keys=GRADERS)
        table.grant_write(function, "DeleteItem", keys=GRADERS)
        table.grant_read(function, "GetItem", keys=UNMATCHED_PROMPTS)
        table.grant_write(function, "DeleteItem", "UpdateItem", keys=UNMATCHED_PROMPTS)
        table.grant_write(function, "DeleteItem", "UpdateItem", keys=UNMATCHED)
        data.content.grant_delete(function, names=OF_DECKS)
        self.run_every(Duration.minutes(3), expired)
