"""The endpoint grader of Azure OpenAI's reinforcement fine-tuning, a private preview.

Source: ``Demos/Agentic_RFT_ToolCall_EndpointGrader`` of microsoft-foundry/fine-tuning. Azure posts
``sample`` (output in the style of chat completions, with ``output_text``), ``item`` (the whole
example of the data set, whose ``messages`` are the prompt) and ``trace_id``; it waits ten minutes,
tries a call that failed three times more, and discards the rollout after that. The answer is
``{"score": number}``. Bodies have at most 1 MB.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import FailFast, StrictStr

from autotune.protocol.completions import Score
from autotune_platform.rewards.contracts.reading import Contract, TrainerRequest, parsed
from autotune_platform.rewards.conversations import as_text, text_of
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import InvalidRequestError


class _Message(TrainerRequest):
    content: Any = None


class _Choice(TrainerRequest):
    message: _Message


class _Sample(TrainerRequest):
    output_text: StrictStr | None = None
    choices: Annotated[list[_Choice], FailFast()] = []


class _Item(TrainerRequest):
    messages: Annotated[list[dict[str, Any]], FailFast()]


class _Request(TrainerRequest):
    sample: _Sample
    item: _Item


def _read(document: Any) -> list[Question]:
    request = parsed(_Request, document)
    messages = request.item.messages
    item = document["item"]
    return [
        Question(
            prompt=as_text(messages, field="item.messages"),
            response=_response(request.sample),
            metadata={name: value for name, value in item.items() if name != "messages"},
            field="sample",
            prompt_field="item.messages",
            metadata_field="item",
        )
    ]


def _response(sample: _Sample) -> str:
    if sample.output_text is not None:
        return sample.output_text
    if not sample.choices:
        raise InvalidRequestError.of_field("sample.output_text", "the text of the model")
    content = sample.choices[0].message.content
    return text_of(content, field="sample.choices[0].message.content")


def _answer(_: Any, scores: Sequence[Score]) -> dict[str, float]:
    return {"score": scores[0].value}


AZURE = Contract(wait_seconds=540, read=_read, answer=_answer)
