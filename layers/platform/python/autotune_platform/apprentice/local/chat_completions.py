"""The form that vLLM, llama.cpp and our own hosts share: OpenAI's chat completions.

vLLM (``vllm/entrypoints/openai/chat_completion/protocol.py``) and llama.cpp
(``tools/server/README.md``) hold an answer to a schema by ``response_format`` of type
``json_schema``. Of llama.cpp's own ``/completion`` nothing is used: it knows no chat template, and
its grammar is what ``response_format`` becomes there anyway.
"""

from collections.abc import Mapping
from typing import Any

from autotune_platform.apprentice.local.contract import LocalQuestion, Reason
from autotune_platform.apprentice.local.exchanging import NoAnswerError

_SCHEMA_NAME = "output"


def chat_request(question: LocalQuestion, *, model: str) -> dict[str, Any]:
    """Return the body that asks a question, always for the likeliest answer."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.user},
        ],
        "temperature": 0,
        "stream": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": _SCHEMA_NAME,
                "schema": dict(question.output_schema),
                "strict": True,
            },
        },
    }
    if question.max_tokens is not None:
        body["max_tokens"] = question.max_tokens
    return body


def read_chat_answer(answer: Any) -> tuple[str, str | None, float | None]:
    """Return text, name of the model, and confidence of an answer.

    Some hosts of adapters name no model. Servers of others have no ``confidence``. A message
    without content, as a model leaves it that spent all tokens on reasoning, is an empty text: the
    model answered, and nothing.

    Raises:
        NoAnswerError: it has another form.
    """
    try:
        (choice,) = answer["choices"]
        text, model = choice["message"]["content"], answer.get("model")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _unreadable() from error
    if not isinstance(text, str | None) or not isinstance(model, str | None):
        raise _unreadable()
    return text or "", model, _confidence(answer)


def _confidence(answer: Mapping[str, Any]) -> float | None:
    confidence = answer.get("confidence")
    if confidence is None:
        return None
    if type(confidence) not in {int, float} or not 0 <= confidence <= 1:
        raise _unreadable()
    return float(confidence)


def _unreadable() -> NoAnswerError:
    return NoAnswerError(Reason.UNREADABLE, "its answer is no chat completion")
