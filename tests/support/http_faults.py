"""What goes wrong with HTTP requests, and what is answered instead of a service."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.protocol.problems import Problem


@dataclass(frozen=True)
class Fault:
    """What happens to the next request whose "METHOD /path" matches ``where``."""

    where: str = ""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/problem+json"
    code: str = "unavailable"
    drop_before: bool = False
    drop_after: bool = False
    delay_seconds: float = 0


@dataclass(frozen=True)
class Received:
    """A request as it came in."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    status: int
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def canned(fault: Fault, request: Received) -> Answer:
    """Return the answer that a fault says."""
    assert fault.status is not None
    content = fault.body
    if content is None:
        problem = Problem(
            type=f"urn:autotune:problem:{fault.code}",
            title=fault.code,
            status=fault.status,
            code=fault.code,
            detail="injected",
            request_id=request.headers["x-autotune-request-id"],
        )
        content = problem.model_dump_json(by_alias=True, exclude_none=True).encode()
    return Answer(fault.status, content, {"content-type": fault.content_type, **fault.headers})
