"""What a policy answered: a trainer's prompts, completions and columns as a grader gets them.

Chat messages follow OpenAI's format, which trainers share: ``role``, ``content`` (text or a list of
parts) and ``tool_calls``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autotune.client.errors import ConfigurationError

Conversation = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """What a policy answered.

    Attributes:
        metadata: JSON for the grader, at most 65,536 bytes.
    """

    prompt: str
    response: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


def rollouts_of(
    prompts: Sequence[str | Conversation],
    completions: Sequence[str | Conversation],
    columns: Mapping[str, Any],
    names: Sequence[str],
) -> list[Rollout]:
    """Return the rollouts of a step, in order, with the columns named as their metadata.

    Raises:
        ConfigurationError: a column is missing.
    """
    metadata = picked(columns, names, of="the data set")
    return [
        Rollout(
            prompt=text_of(prompt),
            response=text_of(completion),
            metadata={name: metadata[name][index] for name in names},
        )
        for index, (prompt, completion) in enumerate(zip(prompts, completions, strict=True))
    ]


def picked(columns: Mapping[str, Any], names: Sequence[str], *, of: str) -> dict[str, Any]:
    """Return the columns named.

    Args:
        of: what has the columns, for the error.

    Raises:
        ConfigurationError: one is missing.
    """
    if missing := [name for name in names if name not in columns]:
        have = ", ".join(sorted(columns)) or "none"
        message = f"metadata names {', '.join(missing)}; {of} has {have}"
        raise ConfigurationError(message)
    return {name: plain(columns[name]) for name in names}


def plain(value: Any) -> Any:
    """Return numpy's scalars and arrays as what JSON can hold, anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def text_of(turns: str | Conversation) -> str:
    """Return a completion as the text that a grader reads.

    A single message is its content; of several, each begins with its role and a colon, and empty
    lines part them. Parts that are no text are named in brackets, such as ``[image_url]``; tool
    calls are compact JSON.
    """
    if isinstance(turns, str):
        return turns
    if len(turns) == 1:
        return _content(turns[0])
    return "\n\n".join(f"{message['role']}: {_content(message)}" for message in turns)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = [content] if isinstance(content, str) else [_part(part) for part in content or ()]
    parts += [_plain_json(call) for call in message.get("tool_calls") or ()]
    return "\n".join(parts)


def _part(part: Mapping[str, Any] | str) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text")
    return text if isinstance(text, str) else f"[{part.get('type')}]"


def _plain_json(call: Any) -> str:
    fields = call.model_dump() if hasattr(call, "model_dump") else call
    return json.dumps(
        fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str
    )
