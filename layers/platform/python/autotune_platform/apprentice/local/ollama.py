"""Ollama's own chat API (``api/types.go``, ``ChatRequest`` and ``ChatResponse``).

Its OpenAI-compatible one neither keeps a model loaded for a given time nor refuses to cut a prompt
that is too long.
"""

from collections.abc import Mapping
from typing import Any

from autotune_platform.apprentice.local.contract import LocalQuestion, Reason
from autotune_platform.apprentice.local.exchanging import ModelServers, NoAnswerError

# A full queue; a model that is being loaded is waited for.
_STATUSES: Mapping[int, Reason] = {503: Reason.BUSY}


def ask_ollama(
    servers: ModelServers, base: str, question: LocalQuestion, *, model: str, idle_minutes: int
) -> tuple[str, str, float | None]:
    """Return text, name of the model, and no confidence, for Ollama has none.

    Raises:
        NoAnswerError: there is no answer that can be used.
    """
    options: dict[str, Any] = {"temperature": 0}
    if question.max_tokens is not None:
        options["num_predict"] = question.max_tokens
    answer = servers.ask(
        f"{base}/api/chat",
        {
            "model": model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            "format": dict(question.output_schema),
            "options": options,
            "stream": False,
            "think": False,
            # A prompt that was cut would be answered as if it were whole.
            "truncate": False,
            "shift": False,
            "keep_alive": f"{idle_minutes}m",
        },
        statuses=_STATUSES,
    )
    try:
        text, served, done = answer["message"]["content"], answer["model"], answer["done"]
    except (KeyError, TypeError) as error:
        raise _unreadable() from error
    if not isinstance(text, str) or not isinstance(served, str) or done is not True:
        raise _unreadable()
    if answer.get("remote_host"):
        raise NoAnswerError(Reason.ANOTHER_VERSION, "it had the vendor's model answer")
    return text, served, None


def _unreadable() -> NoAnswerError:
    return NoAnswerError(Reason.UNREADABLE, "its answer is none of Ollama's")
