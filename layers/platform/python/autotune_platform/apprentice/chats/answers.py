"""A run's answer as a chat completion that does not tell which model gave it.

https://platform.openai.com/docs/api-reference/chat/object, as of August 2026.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol.compact_json import compact_sorted
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.ledger.prices import TOKENS_PER_MESSAGE


def model_of(task_name: str) -> str:
    """Return what a task is called as a model."""
    return f"apprentice/{task_name}"


def completion_of(run: Run, output: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return an answer.

    Its JSON has names in their alphabetical order and no spaces, because models differ in both.
    ``usage`` is counted by the ledger's rule, high: a token for each byte and 128 for each message,
    of what was sent here and of what is answered, whoever was asked.

    Args:
        texts: of the messages that asked for it.
    """
    content = compact_sorted(output)
    given = sum(len(text.encode()) + TOKENS_PER_MESSAGE for text in texts)
    taken = len(content.encode())
    return {
        "id": run.id,
        "object": "chat.completion",
        "created": int(run.created_at.timestamp()),
        "model": model_of(run.task_name),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": given,
            "completion_tokens": taken,
            "total_tokens": given + taken,
        },
    }
