"""Conversations of several turns, which the product has answered while somebody waits.

They are passed through whole and threaded by nobody: who asks the next turn sends all before it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Final

from pydantic import Field, model_validator

from autotune.protocol import limits
from autotune.protocol.completions import Priority
from autotune.protocol.llm_messages import CONVERSATION, LlmMessage
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import LlmTrace
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.frozen_model import FrozenModel

MAX_CHARACTERS: Final = limits.MAX_FILLED_CHARACTERS
"""Most characters of all texts together, as of one input with its variables."""


class Conversation(FrozenModel):
    """What a model is to answer next, in one call: all turns until now, the last one included.

    It has no variables, and no verdict is read in its answer.
    """

    connection_id: str
    model: str
    messages: Annotated[
        Sequence[LlmMessage], Field(min_length=1, max_length=limits.MAX_LLM_MESSAGES)
    ]
    params: LlmParams
    trace: LlmTrace | None = None
    completion_id: str | None = None
    deck_id: str | None = None
    custom_id: str | None = None
    labels: Mapping[str, str] = {}
    retention_days: int | None = None

    purpose: ClassVar[str] = CONVERSATION
    priority: ClassVar[Priority] = "normal"
    complete_by: ClassVar[datetime | None] = None

    @model_validator(mode="after")
    def _has_a_user(self) -> "Conversation":
        if not any(message.role == "user" for message in self.messages):
            raise ValueError("messages: at least one of the user")
        return self

    def texts(self) -> list[str]:
        """Return all texts in their order.

        Raises:
            InvalidRequestError: they have too many characters.
        """
        texts = [text for message in self.messages for text in message.texts]
        if sum(map(len, texts)) > MAX_CHARACTERS:
            raise InvalidRequestError.of_field(
                "messages", f"at most {MAX_CHARACTERS} characters in all"
            )
        return texts
