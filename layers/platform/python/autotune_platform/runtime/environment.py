"""The environment of a function, parsed once into a frozen model."""

import os
from typing import Self

from pydantic import ConfigDict, Json

from autotune.protocol.access import Role
from autotune.protocol.completions import Priority
from autotune_platform.runtime.frozen_model import FrozenModel

_SECRETS_KEY = "SECRETS_KEY_"


class Environment(FrozenModel):
    """Settings of every function; a field is read from the variable of its name in capitals.

    Attributes:
        secrets_keys: ids of the keys that the function derives secrets with, by the kind of the
            secrets: one from each variable ``SECRETS_KEY_<KIND>``.
    """

    model_config = ConfigDict(extra="ignore")

    registry_table: str
    secrets_keys: dict[str, str] = {}

    @classmethod
    def parse(cls) -> Self:
        """Read the process environment.

        Raises:
            pydantic.ValidationError: a variable is missing or cannot be read.
        """
        settings: dict[str, object] = {name.lower(): text for name, text in os.environ.items()}
        settings["secrets_keys"] = {
            name.removeprefix(_SECRETS_KEY).lower().replace("_", "-"): key_id
            for name, key_id in os.environ.items()
            if name.startswith(_SECRETS_KEY)
        }
        return cls.model_validate(settings)


class AccessEnvironment(Environment):
    """For the function of keys and sessions; the console is below ``api_url``."""

    api_url: str


class GatewayEnvironment(Environment):
    """For functions that call graders."""

    admit_private_addresses: bool = False


class OidcEnvironment(AccessEnvironment, GatewayEnvironment):
    """For the function that signs people in to the console by OpenID Connect.

    Attributes:
        oidc_organization: the organisation that they sign in to.
        oidc_role_claim: the claim that says what they may do, with dots where it lies deeper.
        oidc_roles: roles by the values of that claim; empty where these are our roles themselves.
    """

    oidc_issuer: str
    oidc_client_id: str
    oidc_organization: str
    oidc_role_claim: str
    oidc_roles: Json[dict[str, Role]]
    oidc_scope: str
    oidc_session_minutes: int


class GraderEnvironment(GatewayEnvironment):
    """For functions that look after graders."""

    budgets_table: str


class GraderApiEnvironment(GraderEnvironment):
    """For the function that registers and verifies graders, and shows how they are."""

    api_url: str
    completions_table: str


class ProbingEnvironment(GraderEnvironment):
    """For the function that probes graders, and wakes what waits for them."""

    completions_table: str


class AuditEnvironment(Environment):
    """For functions that write to the audit log, or that read it."""

    audit_table: str


class AuditExportEnvironment(AuditEnvironment):
    """For the function that exports the audit log."""

    audit_bucket: str


class WebhookEnvironment(Environment):
    """For functions that publish events, or that look after webhooks and deliveries."""

    deliveries_table: str
    webhook_queue_url: str


class EventEnvironment(WebhookEnvironment):
    """For the function that publishes stored events, and audits those of note."""

    audit_table: str


class DeliveryEnvironment(WebhookEnvironment, GatewayEnvironment):
    """For functions that call webhooks, or that check their addresses."""


class ContentEnvironment(Environment):
    """For functions that read or write completions."""

    completions_table: str
    content_bucket: str


class WaitingEnvironment(ContentEnvironment):
    """For the function behind the two reads that may wait; so many wait at once."""

    budgets_table: str
    waiting_reads: int | None = None


class OverviewEnvironment(ContentEnvironment):
    """For the function that shows what happened over time."""

    budgets_table: str


class AwaitEnvironment(ContentEnvironment):
    """For the function that lets runs wait, for signals or for a grader that is down."""

    budgets_table: str
    ledger_table: str


class RunApiEnvironment(ContentEnvironment):
    """For the function that shows and explains runs."""

    ledger_table: str


class DeckEnvironment(Environment):
    """For functions that look after decks."""

    decks_table: str


class IngestUrlEnvironment(DeckEnvironment):
    """For the function that makes ingest URLs, which hang below ``api_url``."""

    api_url: str


class SampleEnvironment(DeckEnvironment):
    """For functions that read or write samples of decks."""

    content_bucket: str


class ExportEnvironment(ContentEnvironment):
    """For functions that write exports."""

    export_bucket: str
    ledger_table: str
    ledger_bucket: str


class DeletionEnvironment(ExportEnvironment):
    """For the function that deletes organisations."""

    deliveries_table: str
    budgets_table: str
    decks_table: str
    apprentice_table: str
    apprentice_bucket: str


class ExportStartEnvironment(ExportEnvironment):
    """For functions that start and redrive exports."""

    export_scores_arn: str


class ReviewEnvironment(ContentEnvironment):
    """For functions that show reviews, and make links to them."""

    api_url: str


class ChangesEnvironment(ReviewEnvironment, WebhookEnvironment):
    """For the function that publishes reviews and deletes texts that expired."""

    review_topic_arn: str


class QueueEnvironment(Environment):
    """For functions that queue chunks."""

    high_queue_url: str
    normal_queue_url: str
    low_queue_url: str

    @property
    def queue_urls(self) -> dict[Priority, str]:
        """The queue of each priority."""
        return {
            "high": self.high_queue_url,
            "normal": self.normal_queue_url,
            "low": self.low_queue_url,
        }


class ProjectionEnvironment(ContentEnvironment, WebhookEnvironment, AuditEnvironment):
    """For functions that publish and count verdicts, and enter them in the audit log."""


class SubmissionEnvironment(ContentEnvironment, QueueEnvironment):
    """For functions that accept or redrive completions."""


class RewardEnvironment(SubmissionEnvironment):
    """For the function that answers at reward URLs, and waits for scores."""

    budgets_table: str


class SweepEnvironment(SubmissionEnvironment, ProjectionEnvironment):
    """For the function that finds what was lost, and mends it."""


class DeadLetterEnvironment(Environment):
    """For the function that moves dead letters back to their queues.

    Attributes:
        dead_letters: of each queue the address of its dead letters, and its own.
    """

    dead_letters: Json[dict[str, tuple[str, str]]]


class RewardUrlEnvironment(Environment):
    """For the function that makes reward URLs, which hang below ``reward_url``."""

    reward_url: str


class DispatchEnvironment(Environment):
    """For the function that starts runs."""

    completions_table: str
    score_completions_arn: str
    grading_functions: int | None = None


class LedgerEnvironment(Environment):
    """For functions that read or write the ledger."""

    ledger_table: str
    ledger_bucket: str
    budgets_table: str


class GradingEnvironment(ContentEnvironment, GatewayEnvironment, LedgerEnvironment):
    """For the function that has completions graded; graders call back below ``api_url``."""

    api_url: str


class LedgerApiEnvironment(LedgerEnvironment):
    """For the function that takes requests to language models, and shows what came of them."""

    submit_llm_batch_arn: str


class DeckRunEnvironment(SampleEnvironment, LedgerApiEnvironment):
    """For functions that go on with runs of decks, and those that start them."""


class DeckRunWorkEnvironment(DeckRunEnvironment):
    """For the function that goes on with runs; ``slow_functions`` are of its kind."""

    slow_functions: int | None = None


class DeckRunApiEnvironment(DeckRunEnvironment):
    """For the function that starts runs of decks, and shows what came of them."""

    work_deck_run_arn: str


class DeckRunSweepEnvironment(DeckEnvironment):
    """For the function that redrives runs of decks."""

    work_deck_run_arn: str


class ImportEnvironment(LedgerApiEnvironment):
    """For functions that import files of requests to language models."""

    export_bucket: str


class ImportApiEnvironment(ImportEnvironment):
    """For the function that starts imports."""

    import_llm_requests_arn: str


class ConnectionEnvironment(LedgerEnvironment, GatewayEnvironment):
    """For functions that call language models with the keys of connections."""

    provider_keys_key: str


class ConnectionApiEnvironment(ConnectionEnvironment):
    """For the function that keeps connections, and tokens of these and of tasks."""

    apprentice_table: str


class CaptureEnvironment(SampleEnvironment):
    """For the function that makes samples of chat completions."""

    ledger_table: str
    ledger_bucket: str


class ApprenticeEnvironment(GatewayEnvironment):
    """For functions that look after tasks of the apprentice."""

    apprentice_table: str
    budgets_table: str


class ApprenticeTasksEnvironment(ApprenticeEnvironment):
    """For the function that deletes tasks, with their files."""

    apprentice_bucket: str


class TrainingPricesEnvironment(Environment):
    """For functions that know what instances cost.

    Attributes:
        training_prices: US dollars an hour by type of instance.
    """

    training_prices: Json[dict[str, str]]


class ApprenticeApiEnvironment(ApprenticeTasksEnvironment, TrainingPricesEnvironment):
    """For the function that manages tasks, and shows certificates of their models.

    Attributes:
        certificates_key: id of the KMS key that signs those.
        ledger_table: has keys of connections, encrypted.
        provider_keys_key: id of the KMS key that decrypts them.
    """

    certificates_key: str
    ledger_table: str
    provider_keys_key: str


class RunStartEnvironment(LedgerEnvironment, ApprenticeEnvironment):
    """For functions that start runs.

    Attributes:
        run_queue_url: where ids of runs go that nobody waits for.
        work_runs_function: name of the function that works on those that somebody waits for.
    """

    run_queue_url: str
    work_runs_function: str


class ApprenticeRunApiEnvironment(RunStartEnvironment):
    """For the function that takes inputs of tasks.

    Attributes:
        waiting_runs: how many are waited for at once; None where nothing is bounded.
    """

    waiting_runs: int | None = None


class ApprenticeExampleEnvironment(LedgerEnvironment, ApprenticeEnvironment):
    """For the function that lists and imports examples."""


class ChatEnvironment(RunStartEnvironment, ConnectionEnvironment):
    """For the function that answers chat completions; ``chat_functions`` are of its kind.

    Attributes:
        capture_queue_url: where calls go that may be captured.
    """

    decks_table: str
    capture_queue_url: str
    chat_functions: int | None = None


class LinearEnvironment(ApprenticeEnvironment):
    """For functions that ask versions of small models, linear ones too.

    Attributes:
        answer_linear_function: name of the function that hosts those.
        score_similarity_function: name of the one that compares answers by their meaning.
    """

    answer_linear_function: str
    score_similarity_function: str


class ApprenticeWorkEnvironment(LinearEnvironment, ConnectionEnvironment):
    """For the function that works on runs; it has some looked at again through their queue."""

    run_queue_url: str


class StudentEnvironment(Environment):
    """For functions that read or write what was trained."""

    apprentice_bucket: str


class TrainingApiEnvironment(ApprenticeTasksEnvironment, TrainingPricesEnvironment):
    """For the function that begins trainings, and shows them."""

    train_student_arn: str


class TrainingEnvironment(LedgerEnvironment, LinearEnvironment, StudentEnvironment):
    """For the functions that do the steps of trainings."""


class HostingEnvironment(TrainingEnvironment):
    """For the function that makes versions of what was trained.

    Attributes:
        certificates_key: id of the KMS key that signs their certificates.
    """

    certificates_key: str


class DeployEnvironment(TrainingEnvironment):
    """For the function that has models hosted, before they are judged.

    Attributes:
        hosting_prefix: what names at SageMaker begin with.
    """

    hosting_prefix: str


class TrainingJobEnvironment(TrainingEnvironment, TrainingPricesEnvironment):
    """For the function that has jobs train models.

    Attributes:
        training_prefix: what each name of a job begins with.
        training_role_arn: what jobs may.
        training_image: what they run in.
        training_code: address in S3 of the program's archive.
    """

    training_prefix: str
    training_role_arn: str
    training_image: str
    training_code: str


class TrainingSweepEnvironment(TrainingPricesEnvironment):
    """For the function that begins trainings, and finds lost ones and jobs of none."""

    apprentice_table: str
    apprentice_bucket: str
    budgets_table: str
    train_student_arn: str


class HostingSweepEnvironment(TrainingPricesEnvironment):
    """For the function that looks after what SageMaker hosts.

    Attributes:
        hosting_prefix: what each name that it makes begins with.
        hosting_role_arn: of the role that hosts act as.
        adapter_image: of containers that serve a base with adapters.
    """

    apprentice_table: str
    hosting_prefix: str
    hosting_role_arn: str
    adapter_image: str


class FoldingEnvironment(Environment):
    """For the functions that count runs of the apprentice.

    Attributes:
        run_queue_url: where ids of runs go whose answer is to be checked.
    """

    apprentice_table: str
    run_queue_url: str


class RunSweepEnvironment(FoldingEnvironment):
    """For the function that looks after lost runs, and goes on with deletions of tasks."""

    apprentice_bucket: str


class LedgerWorkEnvironment(ConnectionEnvironment):
    """For the function that works on batches; ``model_functions`` are those of its kind."""

    model_functions: int | None = None


class LedgerSweepEnvironment(LedgerEnvironment):
    """For the function that starts batches, and ends calls and imports that were lost."""

    apprentice_table: str
    submit_llm_batch_arn: str
    import_llm_requests_arn: str
