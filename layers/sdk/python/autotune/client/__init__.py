"""Clients of the Autotune API, and what they take and return.

Each name stands once, and ``autotune`` has the same names. The ``as`` makes a name public to type
checkers (PEP 484).
"""

from typing import TYPE_CHECKING

from autotune.client.arguments import NotGiven as NotGiven
from autotune.client.arguments import not_given as not_given
from autotune.client.certificates import verify_certificate as verify_certificate
from autotune.client.clients import AsyncAutotuneClient as AsyncAutotuneClient
from autotune.client.clients import AutotuneClient as AutotuneClient
from autotune.client.deck_files.exporting import deck_file_of as deck_file_of
from autotune.client.deck_files.faults import DeckFileError as DeckFileError
from autotune.client.deck_files.faults import DeckFileFault as DeckFileFault
from autotune.client.deck_files.models import DeckFile as DeckFile
from autotune.client.deck_files.models import DeckFileGrader as DeckFileGrader
from autotune.client.deck_files.models import DeckFileJudge as DeckFileJudge
from autotune.client.deck_files.reading import parse_deck_file as parse_deck_file
from autotune.client.deck_files.writing import format_deck_file as format_deck_file
from autotune.client.downloads import DownloadedExport as DownloadedExport
from autotune.client.downloads import DownloadProgress as DownloadProgress
from autotune.client.errors import APIError as APIError
from autotune.client.errors import AuthenticationError as AuthenticationError
from autotune.client.errors import AutotuneError as AutotuneError
from autotune.client.errors import CertificateError as CertificateError
from autotune.client.errors import ChecksumMismatchError as ChecksumMismatchError
from autotune.client.errors import ConfigurationError as ConfigurationError
from autotune.client.errors import ConflictError as ConflictError
from autotune.client.errors import ConnectionFailedError as ConnectionFailedError
from autotune.client.errors import DownloadError as DownloadError
from autotune.client.errors import ExportNotReadyError as ExportNotReadyError
from autotune.client.errors import InvalidInputError as InvalidInputError
from autotune.client.errors import InvalidRequestError as InvalidRequestError
from autotune.client.errors import LocalFileError as LocalFileError
from autotune.client.errors import NotFoundError as NotFoundError
from autotune.client.errors import PermissionDeniedError as PermissionDeniedError
from autotune.client.errors import RateLimitError as RateLimitError
from autotune.client.errors import RequestTimeoutError as RequestTimeoutError
from autotune.client.errors import RequestTooLargeError as RequestTooLargeError
from autotune.client.errors import ServerError as ServerError
from autotune.client.errors import UnexpectedAnswerError as UnexpectedAnswerError
from autotune.client.errors import UploadError as UploadError
from autotune.client.errors import WaitTimeoutError as WaitTimeoutError
from autotune.client.llm_enqueuing import EnqueuedRequests as EnqueuedRequests
from autotune.client.openai_evals import ConvertedEval as ConvertedEval
from autotune.client.openai_evals import RefusedCriterion as RefusedCriterion
from autotune.client.openai_evals import graders_from_openai_eval as graders_from_openai_eval
from autotune.client.submissions import SubmittedBatch as SubmittedBatch
from autotune.client.submissions import SubmittedCompletion as SubmittedCompletion
from autotune.client.summary import SummaryReport as SummaryReport
from autotune.client.summary import VerdictSummary as VerdictSummary
from autotune.protocol.access import CreateKeyResponse as CreateKeyResponse
from autotune.protocol.access import Key as Key
from autotune.protocol.apprentice_certificates import (
    ApprenticeCertificate as ApprenticeCertificate,
)
from autotune.protocol.apprentice_certificates import (
    ApprenticeCertificateKey as ApprenticeCertificateKey,
)
from autotune.protocol.apprentice_certificates import (
    SignedApprenticeCertificate as SignedApprenticeCertificate,
)
from autotune.protocol.apprentice_estimates import ApprenticeEstimate as ApprenticeEstimate
from autotune.protocol.apprentice_examples import ApprenticeExample as ApprenticeExample
from autotune.protocol.apprentice_examples import (
    ApprenticeExampleCounts as ApprenticeExampleCounts,
)
from autotune.protocol.apprentice_examples import ImportedExamples as ImportedExamples
from autotune.protocol.apprentice_examples import NewApprenticeExample as NewApprenticeExample
from autotune.protocol.apprentice_pairs import ApprenticeVersionPair as ApprenticeVersionPair
from autotune.protocol.apprentice_reports import ApprenticeReport as ApprenticeReport
from autotune.protocol.apprentice_reports import ApprenticeStatus as ApprenticeStatus
from autotune.protocol.apprentice_tasks import (
    ApprenticeConfiguration as ApprenticeConfiguration,
)
from autotune.protocol.apprentice_tasks import ApprenticeTask as ApprenticeTask
from autotune.protocol.apprentice_tasks import ApprenticeTaskSummary as ApprenticeTaskSummary
from autotune.protocol.apprentice_tasks import (
    PutApprenticeTaskRequest as PutApprenticeTaskRequest,
)
from autotune.protocol.apprentice_versions import ApprenticeVersion as ApprenticeVersion
from autotune.protocol.audit import AuditedCall as AuditedCall
from autotune.protocol.audit import AuditedDecision as AuditedDecision
from autotune.protocol.audit import AuditedEvent as AuditedEvent
from autotune.protocol.comparison import ModelComparison as ModelComparison
from autotune.protocol.completions import BatchResponse as BatchResponse
from autotune.protocol.completions import Completion as Completion
from autotune.protocol.completions import CompletionVerdict as CompletionVerdict
from autotune.protocol.completions import NewCompletion as NewCompletion
from autotune.protocol.completions import Opinion as Opinion
from autotune.protocol.completions import Score as Score
from autotune.protocol.completions import ScoredCompletion as ScoredCompletion
from autotune.protocol.completions import VerdictCounts as VerdictCounts
from autotune.protocol.deck_capture import DeckCapture as DeckCapture
from autotune.protocol.deck_rubrics import DeckGrader as DeckGrader
from autotune.protocol.deck_rubrics import DeckGraderVersion as DeckGraderVersion
from autotune.protocol.deck_rubrics import DeckJudge as DeckJudge
from autotune.protocol.deck_samples import BulkSamples as BulkSamples
from autotune.protocol.deck_samples import NewSample as NewSample
from autotune.protocol.deck_samples import Sample as Sample
from autotune.protocol.decks import Deck as Deck
from autotune.protocol.decks import DeckVersion as DeckVersion
from autotune.protocol.exports import Export as Export
from autotune.protocol.exports import ExportDetails as ExportDetails
from autotune.protocol.exports import ExportManifest as ExportManifest
from autotune.protocol.graders import AsyncSettings as AsyncSettings
from autotune.protocol.graders import Grader as Grader
from autotune.protocol.graders import GraderLimits as GraderLimits
from autotune.protocol.graders import GraderSecretResponse as GraderSecretResponse
from autotune.protocol.graders import RegisterGraderResponse as RegisterGraderResponse
from autotune.protocol.graders import VerifyGraderResponse as VerifyGraderResponse
from autotune.protocol.grading import GraderCapabilities as GraderCapabilities
from autotune.protocol.grading import ScoreDimension as ScoreDimension
from autotune.protocol.health import GraderCircuit as GraderCircuit
from autotune.protocol.health import GraderHealth as GraderHealth
from autotune.protocol.health import GraderProbe as GraderProbe
from autotune.protocol.levels import LevelsRubric as LevelsRubric
from autotune.protocol.levels import RubricExample as RubricExample
from autotune.protocol.llm_batches import LlmBatch as LlmBatch
from autotune.protocol.llm_batches import LlmBudget as LlmBudget
from autotune.protocol.llm_batches import LlmCost as LlmCost
from autotune.protocol.llm_batches import LlmEstimate as LlmEstimate
from autotune.protocol.llm_bedrock import BedrockSettings as BedrockSettings
from autotune.protocol.llm_connections import ConnectionVerification as ConnectionVerification
from autotune.protocol.llm_connections import LlmConnection as LlmConnection
from autotune.protocol.llm_connections import ModelPrice as ModelPrice
from autotune.protocol.llm_imports import LlmImport as LlmImport
from autotune.protocol.llm_imports import LlmImportDefaults as LlmImportDefaults
from autotune.protocol.llm_imports import LlmImportLineError as LlmImportLineError
from autotune.protocol.llm_messages import LlmMessage as LlmMessage
from autotune.protocol.llm_messages import LlmTextPart as LlmTextPart
from autotune.protocol.llm_params import LlmInput as LlmInput
from autotune.protocol.llm_params import LlmParams as LlmParams
from autotune.protocol.llm_parses import LlmParse as LlmParse
from autotune.protocol.llm_prices import LlmPrice as LlmPrice
from autotune.protocol.llm_requests import EnqueueLlmRequest as EnqueueLlmRequest
from autotune.protocol.llm_requests import LlmRequest as LlmRequest
from autotune.protocol.llm_requests import LlmRequestSummary as LlmRequestSummary
from autotune.protocol.overview import Overview as Overview
from autotune.protocol.rescoring import RescoredBatch as RescoredBatch
from autotune.protocol.rescoring import RescoreResponse as RescoreResponse
from autotune.protocol.reviews import Review as Review
from autotune.protocol.reviews import ReviewLink as ReviewLink
from autotune.protocol.reviews import ReviewSummary as ReviewSummary
from autotune.protocol.runs import Run as Run
from autotune.protocol.runs import RunSummary as RunSummary
from autotune.protocol.statistics import GraderStats as GraderStats
from autotune.protocol.statistics import GraderUsage as GraderUsage
from autotune.protocol.tasks import ReviewPolicy as ReviewPolicy
from autotune.protocol.tasks import Task as Task
from autotune.protocol.verdict_formats import VerdictFormat as VerdictFormat
from autotune.protocol.webhooks import Delivery as Delivery
from autotune.protocol.webhooks import DeliveryWithBody as DeliveryWithBody
from autotune.protocol.webhooks import Webhook as Webhook
from autotune.protocol.webhooks import WebhookSecretResponse as WebhookSecretResponse
from autotune.protocol.windows import TaskStats as TaskStats

if not TYPE_CHECKING:
    from autotune.public_names import exported

    __all__ = list(exported(vars()))
