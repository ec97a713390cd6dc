"""``@grader``: a function becomes a grader."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from pydantic import TypeAdapter, ValidationError

from autotune.grader.callback import Deferral, Enqueue
from autotune.grader.definition import Grader
from autotune.grader.judging import GraderDefinitionError
from autotune.grader.service import GraderSettings
from autotune.grader.shared_secrets import SecretSource
from autotune.protocol.grading import GraderCapabilities, GraderVersion
from autotune.protocol.types import Name

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

DEFAULT_MAX_BATCH_SIZE = 100
DEFAULT_MAX_CONCURRENCY = 8


class GraderDecorator:
    """``@grader(...)`` and ``@grader.deferred(...)``."""

    def __call__(
        self,
        *,
        name: str,
        version: str = "1.0.0",
        max_batch_size: int = DEFAULT_MAX_BATCH_SIZE,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
        domains: Sequence[str] = (),
        supports_dimensions: bool = False,
        supports_explanations: bool = False,
        avg_latency_ms: int = 1_000,
        secrets: SecretSource | None = None,
    ) -> Callable[[Callable[Parameters, Returned]], Grader[Parameters, Returned]]:
        """Make a grader of a function.

        The function, plain or async, takes a ``GradedCompletion`` (``prompt``, ``response``,
        ``metadata``, ``id``, ``task_id``, ``model_id``) and, if it has a second parameter without a
        default or one named ``context``, a ``GraderContext``. It returns a number from 0 to 1 or a
        ``GraderScore``, and raises or returns ``Abstain`` when it cannot judge. Whatever else it
        returns or raises fails that completion alone; the cause goes to the log ``autotune.grader``
        and nowhere else.

        Args:
            name: 1 to 200 characters.
            version: 1 to 100 printable ASCII characters; change it whenever scores may change.
            max_batch_size: most completions in one batch, 1 to 500.
            max_concurrency: most calls at one time in this process. A plain function runs in that
                many threads: give 1 if it is not thread-safe.
            domains: what it judges, such as ``["math"]``; at most 50.
            supports_dimensions: whether its scores have dimensions.
            supports_explanations: whether its scores have reasoning.
            avg_latency_ms: own estimate for one completion, in milliseconds.
            secrets: shared secrets, or a function that fetches them at the first request; by
                default the environment variable ``AUTOTUNE_GRADER_SECRET``, several separated by
                spaces.

        Raises:
            GraderDefinitionError: a setting is out of its range or the function has other
                parameters.

        Example:
            >>> @grader(name="exact match", version="1.0.0")
            ... def exact_match(completion):
            ...     return float(completion.response.strip() == completion.metadata["answer"])
            >>> exact_match.grade(prompt="2 + 2?", response="4", metadata={"answer": "4"}).value
            1.0
        """
        return _decorator(
            name,
            version,
            {
                "max_batch_size": max_batch_size,
                "supports_dimensions": supports_dimensions,
                "supports_explanations": supports_explanations,
                "avg_latency_ms": avg_latency_ms,
                "domains": list(domains),
            },
            max_concurrency=max_concurrency,
            secrets=secrets,
        )

    def deferred(
        self,
        *,
        name: str,
        version: str = "1.0.0",
        max_batch_size: int = DEFAULT_MAX_BATCH_SIZE,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
        domains: Sequence[str] = (),
        supports_dimensions: bool = False,
        supports_explanations: bool = False,
        estimated_seconds: float | None = None,
        heartbeat_seconds: float | None = None,
        enqueue: Enqueue | None = None,
        secrets: SecretSource | None = None,
    ) -> Callable[[Callable[Parameters, Returned]], Grader[Parameters, Returned]]:
        """Make a grader that answers 202 at once, and scores later, of a function.

        The function is that of ``@grader``. Served by ASGI, it runs in the background of its
        process, and what it comes to is sent to the request's callback URL. A Lambda function is
        frozen once it has answered: give ``enqueue``, which gets a ``DeferredJob``, puts its JSON
        into a queue or a table of yours, and returns; whoever takes it from there calls
        ``my_grader.work(job)``, or answers by itself with ``autotune.grader.callback.Callback``.

        Where it can do neither, or the request names no callback URL because the grader is not
        registered as asynchronous, it judges and answers 200, as any grader.

        Args:
            name: as for ``@grader``, like all that is not described here.
            version: the same.
            max_batch_size: the same.
            max_concurrency: the same.
            domains: the same.
            supports_dimensions: the same.
            supports_explanations: the same.
            estimated_seconds: named in each 202, for whoever watches; it ends no wait.
            heartbeat_seconds: give a sign of life this often while this process works on a job;
                shorter than the ``heartbeatSeconds`` that the grader is registered with.
            enqueue: plain or async; takes a job over.
            secrets: the same.

        Raises:
            GraderDefinitionError: a setting is out of its range or the function has other
                parameters.

        Example:
            >>> @grader.deferred(name="slow judge", estimated_seconds=600)
            ... async def slow_judge(completion):
            ...     return float(completion.response == completion.metadata["answer"])
            >>> slow_judge.capabilities.supports_async
            True
        """
        for setting, seconds in (
            ("estimated_seconds", estimated_seconds),
            ("heartbeat_seconds", heartbeat_seconds),
        ):
            if seconds is not None and not 0 < seconds < math.inf:
                raise GraderDefinitionError(f"{setting} must be a number above 0, not {seconds}")
        return _decorator(
            name,
            version,
            {
                "max_batch_size": max_batch_size,
                "supports_dimensions": supports_dimensions,
                "supports_explanations": supports_explanations,
                "supports_async": True,
                "domains": list(domains),
            },
            max_concurrency=max_concurrency,
            secrets=secrets,
            deferral=Deferral(
                enqueue=enqueue,
                estimated_seconds=estimated_seconds,
                heartbeat_seconds=heartbeat_seconds,
            ),
        )


grader = GraderDecorator()


def _decorator(
    name: str,
    version: str,
    capabilities: Mapping[str, Any],
    *,
    max_concurrency: int,
    secrets: SecretSource | None,
    deferral: Deferral | None = None,
) -> Callable[[Callable[Parameters, Returned]], Grader[Parameters, Returned]]:
    try:
        settings = GraderSettings(
            name=TypeAdapter(Name).validate_python(name),
            version=TypeAdapter(GraderVersion).validate_python(version),
            capabilities=GraderCapabilities(**capabilities),
            max_concurrency=max_concurrency,
            secrets=secrets,
            deferral=deferral,
        )
    except ValidationError as error:
        raise GraderDefinitionError(f"@grader was given a wrong setting: {error}") from error

    def decorate(function: Callable[Parameters, Returned]) -> Grader[Parameters, Returned]:
        return Grader(function, settings)

    return decorate
