"""A program with a token of a task, as it asks chat completions."""

import json
from typing import Any

from tests.support.apprentice_runs import Runs
from tests.support.lambdas import Answer

MODEL = "apprentice/intents"
QUESTION = "Let me in!"


class TaskChats:
    """Has the task intents answer, which has to be there."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.platform = runs.platform
        self.token = self.new_token()

    def new_token(self, **fields: Any) -> str:
        body = {"name": "t", "apprenticeTask": "intents", **fields}
        answer = self.platform.call("POST", "/api/v1/llm-tokens", body)
        assert answer.status == 201, answer.text
        secret: str = answer.json["secret"]
        return secret

    def ask(
        self,
        content: Any = QUESTION,
        *,
        key: str | None = None,
        token: str | None = None,
        headers: dict[str, str] | None = None,
        **fields: Any,
    ) -> Answer:
        body = {"model": MODEL, "messages": [{"role": "user", "content": content}], **fields}
        keyed = {} if key is None else {"idempotency-key": key}
        return self._send("POST", "/v1/chat/completions", body, token, {**keyed, **(headers or {})})

    def models(self, *, token: str | None = None) -> Answer:
        return self._send("GET", "/v1/models", None, token, {})

    def _send(
        self, method: str, path: str, body: Any, token: str | None, headers: dict[str, str]
    ) -> Answer:
        named = {
            "authorization": f"Bearer {token or self.token}",
            "content-type": "application/json",
            **headers,
        }
        sent = b"" if body is None else json.dumps(body).encode()
        return self.platform.pass_on(method, path, "", named, sent)
