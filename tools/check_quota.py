"""Look whether an AWS account can run as many functions at once as a deployment reserves.

``make deploy`` runs it first: CloudFormation would refuse the deployment only after minutes, and
roll it back.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infra.application import SERVICE_STACK_NAME
from infra.config import UNRESERVED, DeploymentConfig, process_environment

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

ROOT = Path(__file__).parent.parent
_RESERVING = (
    *("TrainersApi", "WaitingApi", "GradeChunk"),
    *("WriteExport", "ScoreExportApi", "GradersApi"),
    *("WorkLlmBatch", "ImportRequests", "ConnectionsApi"),
)


def shortage(config: DeploymentConfig, *, limit: int, taken: int) -> str | None:
    """Return what to do where an account has too few functions; None where it has enough.

    Args:
        limit: functions that the account may run at once.
        taken: functions that others than this installation have reserved.
    """
    wanted = config.reserved_functions
    needed = sum(wanted.values()) + UNRESERVED + taken
    if not sum(wanted.values()) or needed <= limit:
        return None
    lines = [f"This account may run {limit} functions at once, and the deployment needs {needed}:"]
    lines += [f"  {count:>5}  {what}" for what, count in wanted.items() if count]
    lines += [f"  {taken:>5}  reserved by others"] if taken else []
    lines += [
        f"  {UNRESERVED:>5}  unreserved, which Lambda demands",
        "Ask for a higher quota (Service Quotas, Lambda, Concurrent executions, L-B99A9384), or",
        "reserve less in the context of cdk.json:",
        '  "waiting-functions": "none", "grading-functions": "none"',
    ]
    return "\n".join(lines)


def _own(functions: "LambdaClient") -> int:
    """Return what this installation has reserved already, if it is there."""
    pages = functions.get_paginator("list_functions").paginate()
    names = [one["FunctionName"] for page in pages for one in page["Functions"]]
    ours = [
        name
        for name in names
        if name.startswith(f"{SERVICE_STACK_NAME}-") and any(one in name for one in _RESERVING)
    ]
    answers = [functions.get_function_concurrency(FunctionName=name) for name in ours]
    return sum(answer.get("ReservedConcurrentExecutions", 0) for answer in answers)


def context() -> Mapping[str, Any]:
    """Return the context of ``cdk.json``."""
    document: Mapping[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return document


def main() -> int:
    """Print what is too few, and return 1 then."""
    values = context()
    config = DeploymentConfig.create(
        target=values.get("target"),
        environment=process_environment(),
        waiting_functions=values.get("waiting-functions"),
        grading_functions=values.get("grading-functions"),
        slow_functions=values.get("slow-functions"),
        model_functions=values.get("model-functions"),
        chat_functions=values.get("chat-functions"),
    )
    # As the CDK does: a profile's region counts where no variable names one.
    region = boto3.Session().region_name or config.region
    functions = boto3.client("lambda", region_name=region)
    try:
        account = functions.get_account_settings()["AccountLimit"]
        limit = account["ConcurrentExecutions"]
        taken = limit - account["UnreservedConcurrentExecutions"] - _own(functions)
    except ClientError as error:
        if "AccessDenied" not in error.response["Error"]["Code"]:
            raise
        # Who deploys with the CDK's roles alone may not look: CloudFormation will say it.
        print(f"The quota of functions was not checked: {error}", file=sys.stderr)  # noqa: T201
        return 0
    except BotoCoreError as error:
        print(f"AWS cannot be asked: {error}", file=sys.stderr)  # noqa: T201
        return 1
    if (fault := shortage(config, limit=limit, taken=taken)) is not None:
        print(fault, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
