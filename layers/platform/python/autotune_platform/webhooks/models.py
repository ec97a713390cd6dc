"""What happened, as organisations are told of it."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from autotune.protocol.events import EventType


class Event(BaseModel):
    """Something that happened in an organisation, once.

    ``id`` follows from what happened, so that telling of it again tells of the same event;
    ``occurred_at`` and ``data`` follow from it, too.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    type: EventType
    organization_id: str
    occurred_at: datetime
    data: dict[str, Any]
