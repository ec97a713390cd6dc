"""``@grader``: a function becomes a grader."""

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from pydantic import TypeAdapter, ValidationError

from autotune.grader.asgi import AsgiApp, asgi_app
from autotune.grader.calling import BoundedFunction, GraderDefinitionError
from autotune.grader.judging import GraderContext, score_from
from autotune.grader.lambda_url import LambdaHandler
from autotune.grader.service import GraderService
from autotune.grader.shared_secrets import SecretSource, SharedSecrets
from autotune.protocol.grading import (
    GradedCompletion,
    GraderCapabilities,
    GraderScore,
    GraderVersion,
    ScoreOptions,
)
from autotune.protocol.types import Name

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

DEFAULT_MAX_BATCH_SIZE = 100
DEFAULT_MAX_CONCURRENCY = 8

_TESTED_COMPLETION_ID = "cmp_00000000000000000000000000"
_TESTED_TASK_ID = "task_00000000000000000000000000"


class Grader(Generic[Parameters, Returned]):
    """A function that can be served; made by ``@grader``.

    Calling it calls the function. ``lambda_handler`` and ``asgi`` serve it; both read the shared
    secret at the first request, never at import.

    Attributes:
        name: for people and logs.
        version: stamped on every score; change it whenever scores may change.
        capabilities: what ``GET /health`` says.
    """

    def __init__(
        self,
        function: Callable[Parameters, Returned],
        *,
        name: str,
        version: str,
        capabilities: GraderCapabilities,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
        secrets: SecretSource | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.name = name
        self.version = version
        self.capabilities = capabilities
        self._function = function
        self._max_concurrency = max_concurrency
        self._secrets = SharedSecrets(secrets)
        self._bounded = BoundedFunction(function, max_concurrency=max_concurrency)
        self._service = GraderService(
            name=name,
            version=version,
            capabilities=capabilities,
            function=self._bounded,
            secrets=self._secrets,
        )
        self._lambda_handler = LambdaHandler(self._service.respond)
        self._asgi = asgi_app(self._service.respond)

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        """Call the decorated function as it is."""
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Grader {self.name} {self.version}>"

    @property
    def asgi(self) -> AsgiApp:
        """The grader as an ASGI 3 application: ``uvicorn grader:my_grader.asgi``."""
        return self._asgi

    def lambda_handler(self, event: Mapping[str, Any], context: object = None) -> dict[str, Any]:
        """Answer one event of a Lambda function URL or an HTTP API (payload format 2.0).

        Lambda wants a module-level name: ``lambda_handler = my_grader.lambda_handler``.

        Raises:
            UnsupportedEventError: the event is of another kind.
        """
        return self._lambda_handler(event, context)

    def grade(
        self,
        *,
        prompt: str,
        response: str,
        metadata: Mapping[str, Any] | None = None,
        model_id: str | None = None,
        options: ScoreOptions | None = None,
    ) -> GraderScore:
        """Return the validated score of one completion; for unit tests and notebooks.

        Plain and async functions alike; call it from synchronous code.

        Raises:
            Abstain: the function abstained.
            InvalidScoreError: the function returned what is no score from 0 to 1.
        """
        completion = GradedCompletion(
            id=_TESTED_COMPLETION_ID,
            task_id=_TESTED_TASK_ID,
            prompt=prompt,
            response=response,
            metadata=dict(metadata or {}),
            model_id=model_id,
        )
        context = GraderContext(options=options or ScoreOptions(include_explanation=True))
        return score_from(asyncio.run(self._judge(completion, context)))

    def with_secrets(self, secrets: SecretSource) -> "Grader[Parameters, Returned]":
        """Return the same grader with other shared secrets, and no memory of request ids."""
        return Grader(
            self._function,
            name=self.name,
            version=self.version,
            capabilities=self.capabilities,
            max_concurrency=self._max_concurrency,
            secrets=secrets,
        )

    def require_secrets(self) -> None:
        """Look the shared secret up now, so that a server without one fails at its start.

        Raises:
            MissingSecretError: there is none.
        """
        self._secrets.current()

    async def _judge(self, completion: GradedCompletion, context: GraderContext) -> object:
        return await self._bounded(completion, context)


def grader(
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
    ``GraderScore``, and raises or returns ``Abstain`` when it cannot tell. Whatever else it returns
    or raises fails that completion alone; the cause goes to the log ``autotune.grader`` and nowhere
    else.

    Args:
        name: 1 to 200 characters.
        version: 1 to 100 printable ASCII characters; change it whenever scores may change.
        max_batch_size: most completions in one batch, 1 to 500.
        max_concurrency: most calls at one time in this process. A plain function runs in that many
            threads: give 1 if it is not thread-safe.
        domains: what it judges, such as ``["math"]``; at most 50.
        supports_dimensions: whether its scores have dimensions.
        supports_explanations: whether its scores have reasoning.
        avg_latency_ms: own estimate for one completion, in milliseconds.
        secrets: shared secrets, or a function that fetches them at the first request; by default
            the environment variable ``AUTOTUNE_GRADER_SECRET``, several separated by spaces.

    Raises:
        GraderDefinitionError: a setting is out of its range or the function has other parameters.

    Example:
        >>> @grader(name="exact match", version="1.0.0")
        ... def exact_match(completion):
        ...     return float(completion.response.strip() == completion.metadata["answer"])
        >>> exact_match.grade(prompt="2 + 2?", response="4", metadata={"answer": "4"}).value
        1.0
    """
    try:
        checked_name = TypeAdapter(Name).validate_python(name)
        checked_version = TypeAdapter(GraderVersion).validate_python(version)
        capabilities = GraderCapabilities(
            max_batch_size=max_batch_size,
            supports_dimensions=supports_dimensions,
            supports_explanations=supports_explanations,
            avg_latency_ms=avg_latency_ms,
            domains=list(domains),
        )
    except ValidationError as error:
        raise GraderDefinitionError(f"@grader was given a wrong setting: {error}") from error

    def decorate(function: Callable[Parameters, Returned]) -> Grader[Parameters, Returned]:
        return Grader(
            function,
            name=checked_name,
            version=checked_version,
            capabilities=capabilities,
            max_concurrency=max_concurrency,
            secrets=secrets,
        )

    return decorate
