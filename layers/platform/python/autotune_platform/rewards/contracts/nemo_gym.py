"""NeMo Gym's ``POST /verify``.

Source: ``BaseVerifyRequest`` and ``BaseVerifyResponse`` in ``nemo_gym/base_resources_server.py`` of
NVIDIA-NeMo/Gym. The request holds ``responses_create_params`` and ``response``, as in OpenAI's
Responses API, and fields of the task's own beside them; the answer repeats it, with ``reward``.
The client (``nemo_gym/server_utils.py``) has no time limit, and fails the rollout where the status
is not 2xx.

``mask_sample`` of newer versions, which marks a reward as meaningless, is not used. The reward
beside it must be a number, and versions that do not know the field train on that number.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import FailFast, StrictStr

from autotune.protocol.completions import Score
from autotune.protocol.limits import MAX_ECHOED_REWARD_BYTES
from autotune_platform.rewards.contracts.reading import (
    Contract,
    TextOrMessages,
    TrainerRequest,
    parsed,
)
from autotune_platform.rewards.conversations import as_text, text_of
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import InvalidRequestError

_NOT_OF_THE_TASK = frozenset({"responses_create_params", "response", "_ng_rollout_id"})


class _CreateParams(TrainerRequest):
    input: TextOrMessages
    instructions: StrictStr | None = None


class _Response(TrainerRequest):
    output: Annotated[list[dict[str, Any]], FailFast()]


class _Request(TrainerRequest):
    responses_create_params: _CreateParams
    response: _Response


def _read(document: Any) -> list[Question]:
    request = parsed(_Request, document)
    _require_repeatable(document)
    return [
        Question(
            prompt=_prompt(request.responses_create_params),
            response=_output_text(request.response.output),
            metadata={
                name: value for name, value in document.items() if name not in _NOT_OF_THE_TASK
            },
            field="response.output",
            prompt_field="responses_create_params.input",
            metadata_field="body",
        )
    ]


def _require_repeatable(document: Any) -> None:
    """Require that the answer can repeat a request, as JSON can escape what UTF-8 cannot."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        expected = "text without lone surrogates, because the answer repeats it"
        raise InvalidRequestError.of_field("body", expected) from error


def _prompt(params: _CreateParams) -> str:
    given = params.input
    if params.instructions is None and isinstance(given, str):
        return given
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if params.instructions is not None:
        messages = [{"role": "system", "content": params.instructions}, *messages]
    return as_text(messages, field="responses_create_params.input")


def _output_text(output: Sequence[dict[str, Any]]) -> str:
    """Return the text of all messages of the model, as ``output_text`` of OpenAI's SDK does."""
    texts = [
        text_of(item.get("content"), field=f"response.output[{index}].content")
        for index, item in enumerate(output)
        if item.get("type") == "message" and item.get("role", "assistant") == "assistant"
    ]
    if not texts:
        raise InvalidRequestError.of_field("response.output", "a message of the assistant")
    return "".join(texts)


def _answer(document: Any, scores: Sequence[Score]) -> dict[str, Any]:
    return {**document, "reward": scores[0].value}


NEMO_GYM = Contract(
    wait_seconds=600, read=_read, answer=_answer, most_bytes=MAX_ECHOED_REWARD_BYTES
)
