"""Samples as they come, and what is judged of them: the texts of a conversation and its answer.

Requests and responses are those of OpenAI's chat completions
(https://platform.openai.com/docs/api-reference/chat). What else is in them is kept and not read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.protocol.compact_json import compact_sorted
from autotune.protocol.deck_samples import NewSample
from autotune.protocol.limits import (
    MAX_LLM_MODEL_CHARACTERS,
    MAX_METADATA_DEPTH,
    MAX_SAMPLE_BYTES,
    MAX_SAMPLE_MESSAGES,
)
from autotune.protocol.types import nests_deeper_than
from autotune_platform.judging.rubric.conversations import conversation as judged_conversation
from autotune_platform.judging.rubric.openai_messages import INSTRUCTIONS, first_answer, texts_of


class FaultySampleError(Exception):
    """A sample cannot be used.

    Attributes:
        field: what of it is at fault, below the sample.
        expected: what was expected there.
    """

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field}: expected {expected}")
        self.field = field
        self.expected = expected


@dataclass(frozen=True)
class Message:
    """One message of a conversation; ``text`` is all that is text in it."""

    role: str
    text: str


@dataclass(frozen=True)
class Conversation:
    """A request and its response, as they are kept, and the texts in them.

    Attributes:
        messages: what the model was given, instructions left out.
        instructions: the texts of all system and developer messages, as judges read them; None
            without any.
        output: the text of the answer.
        identity: the same for the same texts, whatever else differs.
    """

    request: Mapping[str, Any]
    response: Mapping[str, Any]
    messages: Sequence[Message]
    instructions: str | None
    output: str
    identity: str

    @property
    def input(self) -> str:
        """The text of the last message that is the user's; of the last one where none is."""
        users = [message.text for message in self.messages if message.role == "user"]
        return (users or [self.messages[-1].text if self.messages else ""])[-1]

    @property
    def beginning(self) -> str:
        """The text of the first message that is the user's, the same in all turns after it."""
        users = [message.text for message in self.messages if message.role == "user"]
        return (users or [self.messages[0].text if self.messages else ""])[0]

    @property
    def model(self) -> str | None:
        """The model that the response names, else the request."""
        for document in (self.response, self.request):
            named = document.get("model")
            if isinstance(named, str) and _is_name(named):
                return named
        return None


def conversation_of(sample: NewSample) -> Conversation:
    """Return a sample's request and response; made of ``input`` and ``output`` where it has those.

    Raises:
        FaultySampleError: it has both or neither, is too large, or has nothing that can be judged.
    """
    request, response = _documents(sample)
    size = len(compact_sorted([request, response]).encode(errors="surrogatepass"))
    if size > MAX_SAMPLE_BYTES:
        raise FaultySampleError("request", f"at most {MAX_SAMPLE_BYTES} bytes in all, not {size}")
    for name, document in (("request", request), ("response", response)):
        _require_storable(name, document)
    raw = _raw_messages(request)
    messages = [
        Message(_role(message, place), _text(message.get("content"), f"request.messages[{place}]"))
        for place, message in enumerate(raw)
    ]
    answer = _answer(response)
    begins = next(
        (place for place, one in enumerate(messages) if one.role not in INSTRUCTIONS), len(messages)
    )
    if begins == len(messages):
        raise FaultySampleError("request.messages", "a message that is no instruction")
    return Conversation(
        request=request,
        response=response,
        messages=messages[begins:],
        instructions=judged_conversation(raw)[0],
        output=_text(answer.get("content"), "response.choices[0].message"),
        identity=compact_sorted([raw, answer]),
    )


def instructions_of(request: Mapping[str, Any]) -> str | None:
    """Return the texts of all system and developer messages of a request, as judges read them.

    Raises:
        FaultySampleError: it has no messages that can be read.
    """
    return judged_conversation(_raw_messages(request))[0]


def _documents(sample: NewSample) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    whole = sample.request is not None or sample.response is not None
    pair = sample.input is not None or sample.output is not None
    if whole and pair:
        raise FaultySampleError("input", "nothing beside request and response")
    if whole:
        if sample.request is None:
            raise FaultySampleError("request", "an object, with response")
        if sample.response is None:
            raise FaultySampleError("response", "an object, with request")
        return sample.request, sample.response
    if sample.input is None:
        raise FaultySampleError("input", "a text, with output; or request and response")
    if sample.output is None:
        raise FaultySampleError("output", "a text, with input")
    message = {"role": "assistant", "content": sample.output}
    return (
        {"messages": [{"role": "user", "content": sample.input}]},
        {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]},
    )


def _require_storable(name: str, document: Mapping[str, Any]) -> None:
    if nests_deeper_than(document, MAX_METADATA_DEPTH):
        raise FaultySampleError(name, f"at most {MAX_METADATA_DEPTH} levels")
    try:
        compact_sorted(document).encode()
    except UnicodeEncodeError as error:
        raise FaultySampleError(name, "text that UTF-8 can hold") from error


def _raw_messages(request: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise FaultySampleError("request.messages", "a list of messages")
    if len(messages) > MAX_SAMPLE_MESSAGES:
        raise FaultySampleError(
            "request.messages", f"at most {MAX_SAMPLE_MESSAGES} messages, not {len(messages)}"
        )
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            raise FaultySampleError(f"request.messages[{place}]", "an object")
    return messages


def _role(message: Mapping[str, Any], place: int) -> str:
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise FaultySampleError(f"request.messages[{place}].role", "a text such as user")
    return role


def _answer(response: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = response.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise FaultySampleError("response.choices", "a list of choices")
    message = first_answer(response)
    if not isinstance(message, dict):
        raise FaultySampleError("response.choices[0].message", "an object")
    if not (message.get("content") or message.get("tool_calls") or message.get("refusal")):
        raise FaultySampleError("response.choices[0].message.content", "an answer")
    return message


def _text(content: Any, place: str) -> str:
    """Return all text of a message's content: a text, or a list of parts; null is none."""
    if content is not None and not isinstance(content, str | list):
        raise FaultySampleError(f"{place}.content", "a text or a list of parts")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(part, dict):
            raise FaultySampleError(f"{place}.content[{number}]", "an object")
    return "\n".join(texts_of(content))


def _is_name(text: str) -> bool:
    return 0 < len(text) <= MAX_LLM_MODEL_CHARACTERS and text.isascii() and text.isprintable()
