"""Endpoints of SageMaker, asked by ``InvokeEndpoint`` of its runtime.

What a host is asked and answers has the form of OpenAI's chat completions, as AWS's container for
language models has it.
"""

import json
from collections.abc import Mapping
from typing import Any

from autotune_platform.apprentice.local.contract import Reason, ServedModel
from autotune_platform.apprentice.local.exchanging import NoAnswerError, parsed, refusal
from autotune_platform.runtime.sagemaker import EndpointRefusedError, SageMakerRuntime

# Of InvokeEndpoint, version 2017-05-13 of the API. An inference component that is scaled to zero,
# and an endpoint that is not there, are both a ValidationError.
_REASONS = {
    "ModelNotReadyException": Reason.NOT_READY,
    "ValidationError": Reason.NOT_READY,
    "ServiceUnavailable": Reason.NOT_READY,
    "InternalDependencyException": Reason.FAILED,
    "InternalFailure": Reason.FAILED,
    "ThrottlingException": Reason.BUSY,
    "AccessDeniedException": Reason.REFUSED,
}
_OF_THE_MODEL = "ModelError"
# Of LMI: an adapter that is not loaded, yet or again, such as by a copy that just started. What LMI
# cannot read of a request is 424 as well; all that vLLM refuses comes as 500.
_OF_HOSTS = {424: Reason.NOT_READY}


class EndpointInvocations:
    """Asks endpoints of this account."""

    def __init__(self, runtime: SageMakerRuntime) -> None:
        self._runtime = runtime

    def __call__(self, served: ServedModel, request: Mapping[str, Any]) -> Any:
        """Return the JSON that a version's host answers.

        Raises:
            NoAnswerError: there is none.
        """
        if served.endpoint is None:
            raise NoAnswerError(Reason.NO_MODEL, "the version has no endpoint")
        try:
            answer = self._runtime.invoke(
                json.dumps(request).encode(),
                endpoint=served.endpoint,
                component=served.component,
            )
        except EndpointRefusedError as error:
            raise _refused(error) from error
        return parsed(answer)


def _refused(error: EndpointRefusedError) -> NoAnswerError:
    if error.code == _OF_THE_MODEL:
        if not error.original_status:
            return NoAnswerError(Reason.NOT_READY, "SageMaker has no answer of the host")
        return refusal(error.original_status, _OF_HOSTS)
    reason = _REASONS.get(error.code, Reason.FAILED)
    return NoAnswerError(reason, f"SageMaker answered {error.status}, {error.code}")
