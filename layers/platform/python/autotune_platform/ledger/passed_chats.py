"""Chat completions that were passed through, for those who make something of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune_platform.ledger.models import Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class PassedChat:
    """A call with what was asked and answered, in OpenAI's JSON."""

    row: Row
    request: Mapping[str, Any]
    response: Mapping[str, Any]


@part
class PassedChats:
    """Reads calls of all organisations."""

    rows: RowRepository
    texts: RowTexts

    def read(self, organization_id: str, row_id: str) -> PassedChat | None:
        """Return a call; None where it is another organisation's, or its texts are gone."""
        row = self.rows.get(row_id)
        if row is None or row.organization_id != organization_id:
            return None
        asked, answered = self.texts.input_of(row_id), self.texts.output_of(row_id)
        request = None if asked is None else asked.chat_request
        response = None if answered is None else answered.chat_response
        if request is None or response is None:
            return None
        return PassedChat(row, request, response)
