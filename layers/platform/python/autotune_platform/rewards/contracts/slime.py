"""slime's remote reward model.

Source: ``remote_rm`` in ``slime/rollout/rm_hub/__init__.py`` of THUDM/slime (``--rm-type remote_rm
--rm-url``). It posts one sample as ``prompt`` (a text, or a conversation), ``response`` and
``label``, waits 120 s, tries ten times with growing pauses, and fails the rollout after that.
Whatever JSON comes back is the reward: a bare number.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import StrictStr

from autotune.protocol.completions import Score
from autotune_platform.rewards.contracts.reading import (
    Contract,
    TextOrMessages,
    TrainerRequest,
    parsed,
)
from autotune_platform.rewards.conversations import as_text
from autotune_platform.rewards.models import Question


class _Request(TrainerRequest):
    prompt: TextOrMessages
    response: StrictStr
    label: Any = None


def _read(document: Any) -> list[Question]:
    request = parsed(_Request, document)
    prompt = request.prompt
    return [
        Question(
            prompt=prompt if isinstance(prompt, str) else as_text(prompt, field="prompt"),
            response=request.response,
            metadata={} if request.label is None else {"label": request.label},
            field="response",
            prompt_field="prompt",
            metadata_field="label",
        )
    ]


def _answer(_: Any, scores: Sequence[Score]) -> float:
    return scores[0].value


SLIME = Contract(wait_seconds=110, read=_read, answer=_answer)
