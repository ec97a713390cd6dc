"""Amazon Nova's reward function, without the Lambda function in the customer's account.

Source: "Setting up reward functions for Amazon Nova models" in the Amazon Bedrock user guide, and
"Reinforcement fine-tuning" in the Amazon Nova and SageMaker AI guides. Nova invokes a function with
a list of samples: ``id``, ``messages``, of which the last is the response, and ``metadata``, or
``reference_answer`` beside it; it wants a list with ``id``, ``aggregate_reward_score`` and
``metrics_list``. Nova calls no URL: the function in ``examples/trainers/nova`` passes on the one
list and returns the other, and has to end within 15 minutes.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import FailFast, PlainValidator

from autotune.protocol.completions import Score
from autotune.protocol.limits import MAX_BATCH_VALUES
from autotune_platform.rewards.contracts.reading import (
    Contract,
    TrainerRequest,
    parsed,
    require_countable,
)
from autotune_platform.rewards.conversations import as_text, text_of
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import InvalidRequestError

_METRIC = "Metric"


def _id(value: Any) -> str | int:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return value
    raise ValueError("a text or a whole number")


class _Sample(TrainerRequest):
    id: Annotated[str | int, PlainValidator(_id)]
    messages: Annotated[list[dict[str, Any]], FailFast()]
    metadata: dict[str, Any] | None = None
    reference_answer: Any = None


def _read(document: Any) -> list[Question]:
    if not isinstance(document, list):
        raise InvalidRequestError.of_field("body", "a list of samples")
    require_countable(len(document), field="body")
    return [_question(sample, field=f"[{index}]") for index, sample in enumerate(document)]


def _question(document: Any, *, field: str) -> Question:
    sample = parsed(_Sample, document, field=field)
    *context, last = sample.messages or [{}]
    # The guides do not agree on the role of the response; it is nobody's who asks.
    role = last.get("role")
    if not isinstance(role, str) or role in ("system", "user") or not context:
        raise InvalidRequestError.of_field(
            f"{field}.messages", "the prompt's messages, and after them the response"
        )
    metadata = dict(sample.metadata or {})
    if sample.reference_answer is not None:
        metadata["reference_answer"] = sample.reference_answer
    index = len(context)
    return Question(
        prompt=as_text(context, field=f"{field}.messages"),
        response=text_of(last.get("content"), field=f"{field}.messages[{index}].content"),
        metadata=metadata,
        field=field,
        prompt_field=f"{field}.messages",
        metadata_field=f"{field}.metadata",
    )


def _answer(document: Any, scores: Sequence[Score]) -> list[dict[str, Any]]:
    return [
        {
            "id": sample["id"],
            "aggregate_reward_score": score.value,
            "metrics_list": [
                {"name": one.name, "value": one.value, "type": _METRIC}
                for one in score.dimensions or []
            ],
        }
        for sample, score in zip(document, scores, strict=True)
    ]


NOVA = Contract(wait_seconds=840, read=_read, answer=_answer, most_values=MAX_BATCH_VALUES)
