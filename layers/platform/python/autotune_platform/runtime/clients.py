"""AWS clients, made once for each process and never at import time.

They are botocore's own: boto3 adds resources and S3 transfers, which nothing here uses and which
take an eighth of its import.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    UnknownServiceError,
)
from botocore.session import Session

from autotune_platform.runtime.lean_calls import call_leanly
from autotune_platform.runtime.signing import sign_leanly

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

# A quarter of a call's CPU, 0.86 ms: what is wrong with parameters AWS says as well, and the usual
# user agent is put together anew for each call.
_LEAN = Config(parameter_validation=False, user_agent="autotune")

# GradeChunk writes from several threads; the clients retry throttling before we see it.
_CONFIG = _LEAN.merge(
    Config(
        retries={"mode": "standard", "max_attempts": 4},
        connect_timeout=2,
        read_timeout=10,
        max_pool_connections=32,
    )
)

# With an empty key, a call for an object would be one for its bucket.
_S3_CONFIG = _CONFIG.merge(Config(parameter_validation=True))

# What a call waits for after its effect: a store that is down must not hold the answer up for long.
_BRIEF_CONFIG = _LEAN.merge(
    Config(retries={"mode": "standard", "max_attempts": 2}, connect_timeout=1, read_timeout=2)
)

# What nobody waits for: it is done at once, or not at all.
_ONCE_CONFIG = _LEAN.merge(
    Config(retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=1, read_timeout=1)
)

_THROTTLED = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "SlowDown",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
    }
)


_IN_PROGRESS = "TransactionInProgressException"
_LEAST_SERVER_ERROR = 500

REFUSALS = (ClientError, BotoCoreError)
"""What a call of AWS raises, for those who go on without it."""


def is_throttled(error: Exception) -> bool:
    """Return whether AWS was too busy for a call, with others or with this item; it may pass."""
    return isinstance(error, ClientError) and error.response["Error"].get("Code") in _THROTTLED


def is_unclear(error: Exception) -> bool:
    """Return whether nobody knows if AWS did what it was asked for, such as after a time-out."""
    if not isinstance(error, ClientError):
        return isinstance(error, HTTPClientError)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = error.response["Error"].get("Code")
    return code == _IN_PROGRESS or status >= _LEAST_SERVER_ERROR


def is_too_large(error: Exception) -> bool:
    """Return whether DynamoDB refused a write because its item would outgrow 400 KB."""
    return (
        isinstance(error, ClientError)
        and error.response["Error"].get("Code") == "ValidationException"
        and "tem size" in error.response["Error"].get("Message", "")
    )


@cache
def _session() -> Session:
    session = Session()
    loader = session.get_component("data_loader")
    load = loader.load_service_model

    def without_rules(service_name: str, type_name: str, api_version: str | None = None) -> Any:
        # DynamoDB's host follows from the region, which botocore knows without these rules: it goes
        # through them at each call, with the names of all tables in it.
        if (service_name, type_name) == ("dynamodb", "endpoint-rule-set-1"):
            raise UnknownServiceError(service_name=service_name, known_service_names="")
        return load(service_name, type_name, api_version)

    loader.load_service_model = without_rules
    return session


@cache
def _client(service: str, config: Config) -> Any:
    client = _session().create_client(service, config=config)
    if service == "dynamodb":
        sign_leanly(client)
        call_leanly(client)
    return client


def dynamodb() -> "DynamoDBClient":
    """Return the process's DynamoDB client."""
    return cast("DynamoDBClient", _client("dynamodb", _CONFIG))


def brief_dynamodb() -> "DynamoDBClient":
    """Return the process's DynamoDB client that gives up after seconds."""
    return cast("DynamoDBClient", _client("dynamodb", _BRIEF_CONFIG))


def kms() -> "KMSClient":
    """Return the process's KMS client."""
    return cast("KMSClient", _client("kms", _CONFIG))


def s3() -> "S3Client":
    """Return the process's S3 client."""
    return cast("S3Client", _client("s3", _S3_CONFIG))


@cache
def presigning_s3() -> "S3Client":
    """Return the process's S3 client for making links, which S3 takes for KMS keys if signed v4."""
    config = _S3_CONFIG.merge(Config(signature_version="s3v4"))
    client: S3Client = _client("s3", config)
    client.meta.events.register_first("before-endpoint-resolution.s3", _stay_in_the_region)
    return client


def _stay_in_the_region(context: dict[str, Any], **_: Any) -> None:
    """Have links name the bucket's region.

    By themselves they name S3's global host, which redirects to that of a new bucket in another
    region: the signature, which is over the host, is wrong there.
    """
    context["use_global_endpoint"] = False


def sns() -> "SNSClient":
    """Return the process's SNS client."""
    return cast("SNSClient", _client("sns", _CONFIG))


def brief_sqs() -> "SQSClient":
    """Return the process's SQS client that gives up after a second, and tries nothing twice."""
    return cast("SQSClient", _client("sqs", _ONCE_CONFIG))


@cache
def waiting_lambda(seconds: int) -> "LambdaClient":
    """Return the process's Lambda client that waits so long for a function, and calls it once.

    A second call would have the same done twice.
    """
    config = _ONCE_CONFIG.merge(Config(read_timeout=seconds, max_pool_connections=32))
    return cast("LambdaClient", _client("lambda", config))


def sqs() -> "SQSClient":
    """Return the process's SQS client."""
    return cast("SQSClient", _client("sqs", _CONFIG))


def stepfunctions() -> "SFNClient":
    """Return the process's Step Functions client."""
    return cast("SFNClient", _client("stepfunctions", _CONFIG))


def sts() -> Any:
    """Return the process's STS client."""
    return _client("sts", _CONFIG)


def asking_lambda() -> Any:
    """Return a new client of Lambda, which tries nothing twice."""
    return _session().create_client("lambda", config=_ONCE_CONFIG)


def sagemaker() -> Any:
    """Return the process's client of SageMaker's control plane."""
    return _client("sagemaker", _CONFIG)


def sagemaker_runtime() -> Any:
    """Return a new client of SageMaker's runtime, which tries nothing twice."""
    return _session().create_client("sagemaker-runtime", config=_ONCE_CONFIG)
