"""Messages of conversations with language models, as the ledger stores them."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from autotune.protocol import limits
from autotune.protocol.types import RequestModel, Text, at_most

CONVERSATION: Final = "conversation"
"""The purpose of calls that hold ``messages``: the product makes them while somebody waits."""

LlmRole = Literal["system", "developer", "user", "assistant"]

_Content = Annotated[Text, Field(min_length=1)]


class LlmTextPart(RequestModel):
    """One text of a message that has several."""

    type: Literal["text"] = "text"
    text: _Content


class LlmMessage(RequestModel):
    """One message of a conversation: a text, or several in their order.

    Nothing in it is a variable: it is sent as it is.
    """

    role: LlmRole
    content: (
        _Content
        | Annotated[list[LlmTextPart], at_most(limits.MAX_LLM_MESSAGE_PARTS), Field(min_length=1)]
    )

    @property
    def texts(self) -> list[str]:
        """The texts of it, in their order."""
        if isinstance(self.content, str):
            return [self.content]
        return [part.text for part in self.content]


def _refused(_: Any) -> None:
    raise PydanticCustomError(
        "several_turns",
        "left out: a request has one input, which is one user message and what stands before it. "
        "Only calls that Autotune makes itself while somebody waits have several turns. Put the "
        "earlier turns into input.user as text",
    )


NoMessages = Annotated[SkipJsonSchema[None], BeforeValidator(_refused)]
"""What stands where somebody may take a request for a conversation: any value is refused."""


def not_of_conversations(purpose: str) -> str:
    """Return a purpose that requests may be enqueued for.

    Raises:
        PydanticCustomError: it is that of conversations.
    """
    if purpose == CONVERSATION:
        raise PydanticCustomError(
            "reserved_purpose",
            "another purpose: conversation is of calls that Autotune makes itself while somebody "
            "waits, and nothing is enqueued for it",
        )
    return purpose
