"""Requests and answers as the server passes them on, with what may go wrong on the way."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    base_url: str = ""
    key: str = ""
    workspace: str = ""
    provider: str = ""
    path_values: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query)

    def one(self, name: str) -> str | None:
        """A query parameter's first value."""
        return self.query.get(name, [None])[0]

    def value(self, name: str) -> str:
        """What the path's pattern captured, unquoted."""
        return unquote(self.path_values[name])

    def bearer(self) -> str:
        scheme, _, rest = self.headers.get("authorization", "").partition(" ")
        return rest.strip() if scheme.lower() == "bearer" else ""

    def document(self) -> Any:
        """The JSON body, its keys in the order that they came in.

        Raises:
            ValueError: If it is no JSON.
        """
        return json.loads(self.body)


@dataclass
class Answer:
    """A response, and what the transport does to it.

    Attributes:
        delay_seconds: Passes before anything is sent.
        drop: Whether the connection ends without a byte.
        cut_at: The connection ends after so many bytes of the body, whose whole length is promised.
        stall_at: After so many bytes nothing comes for ``stall_seconds``, then the connection ends.
        jsonl: Whether it is a content whose lines the traps of contents may change.
        carries_results: Whether results are in it, beside what a batch tells of itself.
        batch_id: Whose results they are.
        token: Of the execution that it answers with.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    drop: bool = False
    cut_at: int | None = None
    stall_at: int | None = None
    stall_seconds: float = 30.0
    jsonl: bool = False
    carries_results: bool = False
    batch_id: str | None = None
    token: str | None = None

    @classmethod
    def json(cls, document: Any, status: int = 200, **headers: str) -> "Answer":
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(
            status=status,
            body=json.dumps(document, ensure_ascii=False).encode(),
            headers={"content-type": "application/json", **named},
        )


class ProviderError(Exception):
    """An error that the provider's dialect puts into words.

    Attributes:
        code: The dialects' common name of what is wrong: ``invalid``, ``unknown_model``,
            ``not_found``, ``key``, ``rate``, ``server``, ``credit``, ``conflict``, ``too_large``.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        retry_after: int = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.retry_after = retry_after
