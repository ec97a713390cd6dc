"""Chat completions in OpenAI's JSON, which are passed through to a provider that takes them so."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar

from autotune.protocol.completions import Priority
from autotune.protocol.llm_messages import CONVERSATION
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import LlmTrace
from autotune_platform.runtime.frozen_model import FrozenModel


class Chat(FrozenModel):
    """One call that somebody waits for; nothing in it is read but what bounds its cost.

    Attributes:
        body: as it is sent, but for the model and the most tokens of an answer.
        max_tokens: these.
    """

    connection_id: str
    model: str
    body: Mapping[str, Any]
    max_tokens: int
    deck_id: str | None = None
    labels: Mapping[str, str] = {}
    retention_days: int | None = None

    purpose: ClassVar[str] = CONVERSATION
    priority: ClassVar[Priority] = "normal"
    complete_by: ClassVar[datetime | None] = None
    trace: ClassVar[LlmTrace | None] = None
    completion_id: ClassVar[str | None] = None
    custom_id: ClassVar[str | None] = None

    @property
    def params(self) -> LlmParams:
        """What the ledger knows of how it is to be answered; the rest is in the body."""
        return LlmParams(max_tokens=self.max_tokens)

    def texts(self) -> list[str]:
        """Return all of the body as JSON, in as many texts as its bound counts messages.

        Each message is one, each part of its content and each tool one more. A token has a byte at
        least, so that no name, mark or escape of the JSON makes the bound too low.
        """
        return [json.dumps(one, ensure_ascii=False) for one in self._pieces()]

    def _pieces(self) -> Iterator[Any]:
        apart = {"messages", "tools", "functions"}
        yield {name: value for name, value in self.body.items() if name not in apart}
        for message in self.body["messages"]:
            content = message.get("content")
            parts = content if isinstance(content, list) else []
            yield {**message, "content": None} if parts else message
            yield from parts
        for name in ("tools", "functions"):
            yield from self.body.get(name) or ()
