"""A response and what led to it, as a judge reads them: texts, and nothing of who wrote them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from autotune_platform.judging.rubric.openai_messages import (
    INSTRUCTIONS,
    first_answer,
    message_text,
)
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.frozen_model import FrozenModel

Role = Literal["user", "assistant", "tool", "other"]

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SYSTEM: Final = "system: "
_NEXT_TURN = re.compile(r"\n\n(?P<role>user|assistant): ")
_MOST_VALUES = 50_000


class Turn(FrozenModel):
    """One message of a conversation."""

    role: Role
    text: str


class SampleTexts(FrozenModel):
    """What is judged.

    Attributes:
        system: the system prompt that the response was written under, where it is known.
        turns: the conversation before the response, without its system prompt.
        response: what is judged.
        values: what stands for the placeholders of its deck's prompt, by name, where the system
            prompt is kept with other literal text than the deck's; judges are not shown it.
    """

    system: str | None = None
    turns: Sequence[Turn]
    response: str
    values: Mapping[str, str] | None = None

    @property
    def characters(self) -> int:
        """How many characters a judge reads of it, its own system prompt included."""
        said = sum(len(turn.text) for turn in self.turns)
        return len(self.system or "") + said + len(self.response)


def sample_texts(request: Mapping[str, Any], response: Mapping[str, Any]) -> SampleTexts:
    """Return the texts of a chat completion of OpenAI's: its request and its response.

    Images and the like are named in brackets, such as ``[image_url]``; tool calls are compact JSON.
    """
    messages = request.get("messages")
    system, turns = conversation(messages if isinstance(messages, list) else [])
    answer = first_answer(response)
    said = message_text(answer) if isinstance(answer, Mapping) else ""
    return SampleTexts(system=system, turns=turns, response=said)


def conversation(messages: Iterable[Any]) -> tuple[str | None, list[Turn]]:
    """Return a conversation's system prompt, of all its messages of that kind, and its turns."""
    instructions: list[str] = []
    turns: list[Turn] = []
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        role, text = message.get("role"), message_text(message)
        if role in INSTRUCTIONS:
            instructions.append(text)
        else:
            turns.append(Turn(role=_ROLES.get(str(role), "other"), text=text))
    return "\n\n".join(instructions) if instructions else None, turns


def completion_texts(prompt: str, response: str, metadata: Mapping[str, Any]) -> SampleTexts:
    """Return the texts of a completion that is scored.

    Its prompt may be a list of messages as JSON, or an object with ``messages``. Else the prompt is
    what a user said; its system prompt is the text ``systemPrompt`` of the metadata, or what the
    adapters for trainers write before the first other turn: ``system: …`` and an empty line.
    """
    system, turns = _messages(prompt) or _flattened(prompt)
    named = metadata.get("systemPrompt")
    if isinstance(named, str):
        system = named
    return SampleTexts(system=system, turns=turns, response=response)


def _messages(prompt: str) -> tuple[str | None, list[Turn]] | None:
    if not prompt.lstrip().startswith(("[", "{")):
        return None
    try:
        document = parse_strictly(prompt.encode(), most_values=_MOST_VALUES)
    except ValueError:
        return None
    messages = document.get("messages") if isinstance(document, Mapping) else document
    if not isinstance(messages, list) or not messages:
        return None
    are_messages = all(
        isinstance(one, Mapping) and isinstance(one.get("role"), str) for one in messages
    )
    return conversation(messages) if are_messages else None


def _flattened(prompt: str) -> tuple[str | None, list[Turn]]:
    if prompt.startswith(_SYSTEM):
        found = _NEXT_TURN.search(prompt)
        if found is not None:
            turns = prompt[found.end() :]
            role: Role = "user" if found["role"] == "user" else "assistant"
            return prompt[len(_SYSTEM) : found.start()], [Turn(role=role, text=turns)]
    return None, [Turn(role="user", text=prompt)]
