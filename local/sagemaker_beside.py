"""SageMaker beside MiniStack, at MiniStack's own address.

MiniStack passes on what is signed for SageMaker: so its permissions are decided on and recorded as
those of all else (``local.permissions``), and whoever knows MiniStack's address needs no other.
What serves is a process of its own (``local.sagemaker``), which the first request starts: most
stacks never ask for it.
"""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

import httpx
from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.core.responses import get_account_id
from ministack.core.router import extract_access_key_id, extract_region

from local.endpoint import LOOPBACK
from local.sagemaker.records import arn_of
from local.sagemaker.roles import PRINCIPAL, ROLES_VARIABLE

SERVICE = "sagemaker"
DIRECTORY = "sagemaker"
INVOKE = "InvokeEndpoint"
_INVOCATIONS = re.compile(r"/endpoints/([^/]+)/invocations")
_COMPONENT = "x-amzn-sagemaker-inference-component"
_SECONDS = 90.0
_END_SECONDS = 3.0
_HOP_BY_HOP = frozenset(
    {"connection", "content-length", "date", "host", "server", "transfer-encoding"}
)

Answer = tuple[int, dict[str, str], bytes]
# What an operation is about, by members of its request: AWS's service authorization reference.
_RESOURCES = {
    "TrainingJobName": "training-job",
    "ModelName": "model",
    "InferenceComponentName": "inference-component",
    "EndpointName": "endpoint",
    "EndpointConfigName": "endpoint-config",
}
_OF_TWO = {
    "CreateEndpoint": ("EndpointName", "EndpointConfigName"),
    "UpdateEndpoint": ("EndpointName", "EndpointConfigName"),
    "CreateInferenceComponent": ("InferenceComponentName", "EndpointName"),
}
_ROLES = ("RoleArn", "ExecutionRoleArn")


def install(directory: Path) -> "Beside":
    """Change the MiniStack of this process, and return what serves.

    Args:
        directory: The stack's folder.
    """
    beside = Beside(directory)
    app.SERVICE_HANDLERS[SERVICE] = beside.answer
    iam_actions.SERVICE_TO_IAM_NAMESPACE[SERVICE] = SERVICE
    iam_actions.extract_iam_action = with_invocations(iam_actions.extract_iam_action)
    iam_actions.extract_resource_arn = with_resources(iam_actions.extract_resource_arn)
    return beside


class Beside:
    """The server's process, and the way to it.

    Args:
        directory: The stack's folder.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self._url = ""
        self._starting = asyncio.Lock()

    async def answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, _query: Any
    ) -> Answer:
        """Answer as MiniStack's services do."""
        denied = _denied(path, headers, body)
        if denied is not None:
            return denied
        async with self._starting:
            if self._process is None or self._process.poll() is not None:
                await asyncio.to_thread(self._start)
        kept = {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
            found = await client.request(method, f"{self._url}{path}", headers=kept, content=body)
        answered = {name: value for name, value in found.headers.items() if name not in _HOP_BY_HOP}
        return found.status_code, answered, found.content

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._process.kill()
        self._process.wait()

    def _start(self) -> None:
        """Start it on a port that listens already, so that whoever asks waits and is answered."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with socket.create_server((LOOPBACK, 0), backlog=128) as listening:
            # In MiniStack's process group: it ends with it also where both are killed.
            with (self._directory / "sagemaker.log").open("ab") as log:
                self._process = subprocess.Popen(
                    [
                        *(sys.executable, "-m", "local.sagemaker"),
                        *("--directory", str(self._directory / DIRECTORY)),
                        *("--listening", str(listening.fileno())),
                    ],
                    cwd=Path(__file__).resolve().parent.parent,
                    env={**os.environ, **({ROLES_VARIABLE: "1"} if app.AUTH else {})},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=[listening.fileno()],
                )
            self._url = f"http://{LOOPBACK}:{listening.getsockname()[1]}"


def with_invocations(action_of: Callable[..., str | None]) -> Callable[..., str | None]:
    """Have ``InvokeEndpoint`` asked for its permission: it is named by its path."""

    @wraps(action_of)
    def action(service: str, method: str, path: str, *request: Any) -> str | None:
        if service == SERVICE and _INVOCATIONS.fullmatch(path):
            return f"{SERVICE}:{INVOKE}"
        return action_of(service, method, path, *request)

    return action


def with_resources(arn_of_request: Callable[..., str]) -> Callable[..., str]:
    """Have a request to SageMaker be about what it names."""

    @wraps(arn_of_request)
    def arn(service: str, method: str, path: str, headers: Any, body: bytes, *more: Any) -> str:
        if service != SERVICE:
            return arn_of_request(service, method, path, headers, body, *more)
        return resources_of(path, headers, body)[0]

    return arn


def resources_of(path: str, headers: Mapping[str, str], body: bytes) -> list[str]:
    """Return the ARNs of what a request is about; ``*`` for a list."""
    invoked = _INVOCATIONS.fullmatch(path)
    if invoked is not None:
        component = headers.get(_COMPONENT)
        parts = [arn_of("inference-component", component)] if component else []
        return [arn_of("endpoint", invoked[1]), *parts]
    asked = _asked(body)
    if "ResourceArn" in asked:
        return [str(asked["ResourceArn"])]
    operation = _operation(headers)
    members = _OF_TWO.get(operation, _RESOURCES)
    named = [arn_of(_RESOURCES[name], str(asked[name])) for name in members if name in asked]
    if operation in _OF_TWO:
        return named or ["*"]
    return named[:1] or ["*"]


def _denied(path: str, headers: Mapping[str, str], body: bytes) -> Answer | None:
    """Return the refusal of what a request needs beside its own permission; None if it has all."""
    if not app.AUTH:
        return None
    access_key = extract_access_key_id(dict(headers))
    region = extract_region(dict(headers))
    for action, resource, context in _needed_beside(path, headers, body):
        denied = iam_evaluator.enforce(
            access_key,
            action,
            action.partition(":")[0],
            region,
            resource_arn=resource,
            service_context=context,
        )
        if denied:
            answer: Answer = iam_actions.access_denied_response(
                SERVICE,
                action,
                getattr(denied, "principal_arn", get_account_id()),
                headers.get("x-amzn-requestid", ""),
                headers=headers,
                resource_arn=resource,
            )
            return answer
    return None


def _needed_beside(
    path: str, headers: Mapping[str, str], body: bytes
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield actions, resources and what conditions may ask for."""
    operation = INVOKE if _INVOCATIONS.fullmatch(path) else _operation(headers)
    first, *others = resources_of(path, headers, body)
    for resource in others:
        yield f"{SERVICE}:{operation}", resource, {}
    asked = {} if operation == INVOKE else _asked(body)
    if operation.startswith("Create") and asked.get("Tags"):
        yield f"{SERVICE}:AddTags", first, {}
    for role in (asked[name] for name in _ROLES if name in asked):
        yield "iam:PassRole", str(role), {"iam:PassedToService": PRINCIPAL}


def _operation(headers: Mapping[str, str]) -> str:
    return headers.get("x-amz-target", "").rpartition(".")[2]


def _asked(body: bytes) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(body)
        if isinstance(found, dict):
            return found
    return {}
