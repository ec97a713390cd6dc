"""A chat completion of a task: the same whoever answered."""

from datetime import UTC, datetime
from typing import Any

import pytest

from autotune_platform.apprentice.chats.answers import completion_of
from autotune_platform.apprentice.routing import Model
from autotune_platform.apprentice.runs.models import Run

AT = datetime(2026, 11, 27, 9, tzinfo=UTC)


def run(**fields: Any) -> Run:
    return Run(
        id="apr_1",
        organization_id="org_1",
        task_id="apt_1",
        task_name="intents",
        configuration_version=1,
        definition_hash="h",
        created_by="llt_1",
        input={"text": "q"},
        fingerprint="f",
        state="answered",
        created_at=AT,
        deadline_at=AT,
        **fields,
    )


@pytest.mark.parametrize("answers", [Model.LOCAL, Model.REMOTE])
def test_nothing_tells_the_route(answers: Model) -> None:
    ways = {
        Model.LOCAL: {"phase": 3, "local_version": 2, "local_output": "{}", "unmonitored": True},
        Model.REMOTE: {"phase": 2, "remote_row_id": "llm_1", "attempts": 3, "cost_nano_usd": 7},
    }
    outputs = {
        Model.LOCAL: {"reason": "é", "intent": "card"},
        Model.REMOTE: {"intent": "card", "reason": "é"},
    }

    found = completion_of(run(answers=answers, **ways[answers]), outputs[answers], ["q", "é"])

    content = '{"intent":"card","reason":"é"}'
    assert found == {
        "id": "apr_1",
        "object": "chat.completion",
        "created": int(AT.timestamp()),
        "model": "apprentice/intents",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        # A token for each byte, and 128 for each message.
        "usage": {"prompt_tokens": 259, "completion_tokens": 31, "total_tokens": 290},
    }
