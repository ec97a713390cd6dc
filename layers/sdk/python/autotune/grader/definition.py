"""A grader: a function that can be served."""

import asyncio
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, ParamSpec, TypeVar

from autotune.grader.asgi import AsgiApp, asgi_app
from autotune.grader.callback import DeferredJob
from autotune.grader.judging import BoundedFunction, GraderContext, score_from
from autotune.grader.lambda_url import LambdaHandler
from autotune.grader.service import GraderService, GraderSettings
from autotune.grader.shared_secrets import SecretSource, SharedSecrets
from autotune.protocol.grading import GradedCompletion, GraderScore, ScoreOptions

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

_TESTED_COMPLETION_ID = "cmp_00000000000000000000000000"
_TESTED_TASK_ID = "task_00000000000000000000000000"


class Grader(Generic[Parameters, Returned]):
    """A function that can be served; made by ``@grader``.

    Calling it calls the function. ``lambda_handler`` and ``asgi`` serve it; both read the shared
    secret at the first request, never at import.

    Attributes:
        name: for people and logs.
        version: stamped on every score; change it whenever scores may change.
        capabilities: what ``GET /health`` answers.
        asgi: the grader as an ASGI 3 application: ``uvicorn grader:my_grader.asgi``.
    """

    def __init__(self, function: Callable[Parameters, Returned], settings: GraderSettings) -> None:
        functools.update_wrapper(self, function)
        self.name = settings.name
        self.version = settings.version
        self.capabilities = settings.capabilities
        self._function = function
        self._settings = settings
        self._secrets = SharedSecrets(settings.secrets)
        self._bounded = BoundedFunction(function, max_concurrency=settings.max_concurrency)
        self._service = GraderService(settings, function=self._bounded, secrets=self._secrets)
        self._lambda_handler = LambdaHandler(self._service.respond)
        self.asgi: AsgiApp = asgi_app(functools.partial(self._service.respond, host_stays=True))

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        """Call the decorated function as it is."""
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Grader {self.name} {self.version}>"

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
        return score_from(asyncio.run(self._bounded(completion, context)))

    def with_secrets(self, secrets: SecretSource) -> "Grader[Parameters, Returned]":
        """Return the same grader with other shared secrets, and no memory of request ids."""
        return Grader(self._function, replace(self._settings, secrets=secrets))

    def work(self, job: DeferredJob) -> None:
        """Judge what a deferred request asked, and send the answer; for who works a queue off.

        Call it from synchronous code, in any process that has the shared secret.

        Raises:
            CallbackRefusedError: the answer is not taken: canceled, out of time, answered before.
            CallbackUnreachableError: Autotune could not be reached; do it again.
            MissingSecretError: there is no secret to sign with.
        """
        asyncio.run(self._service.work.do(job))

    def require_secrets(self) -> None:
        """Look the shared secret up now, so that a server without one fails at its start.

        Raises:
            MissingSecretError: there is none.
        """
        self._secrets.current()
