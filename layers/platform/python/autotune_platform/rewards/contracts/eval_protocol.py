"""eval-protocol's remote reward function.

Source: ``RewardFunction.__call__`` (``mode="remote"``) in ``eval_protocol/reward_function.py`` and
``POST /evaluate`` in ``eval_protocol/generic_server.py``, eval-protocol 0.3.33. The request holds
``messages``, of which the last is the response, ``ground_truth``, and arguments of the function's
own: beside them, as the client sends them, or in ``kwargs``, as the server wants them. The client
has no time limit and does not try again; a status that is not 2xx is an error of its caller's.

The answer is an ``EvaluateResult``. Its ``is_score_valid`` is never false: the client drops it, and
keeps the score that has to stand beside it.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import FailFast, Field

from autotune.protocol.completions import Score
from autotune_platform.rewards.contracts.reading import Contract, TrainerRequest, parsed
from autotune_platform.rewards.conversations import as_text, text_of
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import InvalidRequestError

_OWN_FIELDS = frozenset({"messages", "ground_truth", "kwargs"})


class _Request(TrainerRequest):
    messages: Annotated[list[dict[str, Any]], FailFast()]
    ground_truth: Any = None
    arguments: Annotated[dict[str, Any] | None, Field(alias="kwargs")] = None


def _read(document: Any) -> list[Question]:
    request = parsed(_Request, document)
    *context, last = request.messages or [{}]
    if last.get("role") != "assistant" or not context:
        raise InvalidRequestError.of_field(
            "messages", "the prompt's messages, and after them the response of the assistant"
        )
    beside = {name: value for name, value in document.items() if name not in _OWN_FIELDS}
    metadata = {**beside, **(request.arguments or {})}
    # The client sends the context again where nobody gave it a ground truth.
    if request.ground_truth is not None and request.ground_truth != context:
        metadata["ground_truth"] = request.ground_truth
    index = len(context)
    return [
        Question(
            prompt=as_text(context, field="messages"),
            response=text_of(last.get("content"), field=f"messages[{index}].content"),
            metadata=metadata,
            field=f"messages[{index}]",
            prompt_field="messages",
            metadata_field="body",
        )
    ]


def _answer(_: Any, scores: Sequence[Score]) -> dict[str, Any]:
    (score,) = scores
    return {
        "score": score.value,
        "is_score_valid": True,
        "reason": score.reasoning,
        "metrics": {
            one.name: {"score": one.value, "is_score_valid": True, "reason": one.name}
            for one in score.dimensions or []
        },
    }


EVAL_PROTOCOL = Contract(wait_seconds=600, read=_read, answer=_answer)
