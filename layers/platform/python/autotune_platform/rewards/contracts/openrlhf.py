"""OpenRLHF's remote reward model.

Source: ``SingleTurnAgentExecutor._fetch_rewards_via_http`` in ``openrlhf/utils/agent.py`` and the
server in ``openrlhf/cli/serve_rm.py``, OpenRLHF 0.11.2. The client posts lists of equal length,
``query`` (prompt and response as one text, special tokens included), ``prompts`` and ``labels``; it
waits 180 s, tries five times with a second between them whatever came back, and then goes on with
no reward at all. The answer has a list each for ``rewards`` and ``scores``, and lists by name in
``extra_logs``.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import FailFast, Field, StrictStr

from autotune.protocol.completions import Score
from autotune.protocol.limits import MAX_BATCH_VALUES
from autotune_platform.rewards.contracts.reading import (
    Contract,
    TrainerRequest,
    parsed,
    require_countable,
)
from autotune_platform.rewards.models import Question
from autotune_platform.runtime.errors import InvalidRequestError

_SPECIAL_TOKEN = re.compile(r"<[^<>\s]+>|\[\w+\]")


class _Request(TrainerRequest):
    queries: Annotated[list[StrictStr], Field(alias="query"), FailFast()]
    prompts: Annotated[list[StrictStr], FailFast()]
    labels: list[Any] | None = None


def _read(document: Any) -> list[Question]:
    request = parsed(_Request, document)
    count = len(request.queries)
    require_countable(count, field="query")
    labels = [None] * count if request.labels is None else request.labels
    for name, given in (("prompts", request.prompts), ("labels", labels)):
        if len(given) != count:
            expected = f"as many as there are in query, which is {count}"
            raise InvalidRequestError.of_field(name, expected)
    return [
        Question(
            prompt=prompt,
            response=_response(query, prompt, field=f"query[{index}]"),
            metadata={} if label is None else {"label": label},
            field=f"query[{index}]",
            prompt_field=f"prompts[{index}]",
            metadata_field=f"labels[{index}]",
        )
        for index, (query, prompt, label) in enumerate(
            zip(request.queries, request.prompts, labels, strict=True)
        )
    ]


def _response(query: str, prompt: str, *, field: str) -> str:
    """Return the response, which follows the prompt in a query.

    A tokenizer may have put special tokens before the prompt. They are skipped first, because a
    short prompt may be a part of such a token. With an empty prompt they cannot be distinguished
    from the response, and are part of it.
    """
    start = 0
    while not query.startswith(prompt, start):
        token = _SPECIAL_TOKEN.match(query, start)
        if token is None:
            break
        start = token.end()
    _, found, response = query[start:].partition(prompt) if prompt else ("", True, query)
    if not found:
        raise InvalidRequestError.of_field(
            field, "the prompt at the same index, and the response after it"
        )
    return response


def _answer(_: Any, scores: Sequence[Score]) -> dict[str, Any]:
    values = [score.value for score in scores]
    confidences = [score.confidence for score in scores]
    return {"rewards": values, "scores": values, "extra_logs": {"confidence": confidences}}


OPENRLHF = Contract(wait_seconds=170, read=_read, answer=_answer, most_values=MAX_BATCH_VALUES)
