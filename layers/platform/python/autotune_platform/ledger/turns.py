"""What a row asks, as the turns that a model reads."""

from collections.abc import Sequence

from autotune.protocol.llm_messages import LlmMessage
from autotune_platform.ledger.calls import Turn
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.ledger.templates import fill


def turns_of(text: RowInput) -> list[Turn]:
    """Return a conversation as it is, or an input with its variables put in."""
    if text.messages is not None:
        return turns_in([LlmMessage.model_validate(one) for one in text.messages])
    variables = text.input.get("variables", {})
    system = fill(text.input.get("system") or "", variables)
    user = Turn("user", fill(text.input["user"], variables))
    return [Turn("system", system), user] if system else [user]


def turns_in(messages: Sequence[LlmMessage]) -> list[Turn]:
    """Return the turns of messages."""
    return [
        Turn(
            message.role,
            message.content if isinstance(message.content, str) else tuple(message.texts),
        )
        for message in messages
    ]
