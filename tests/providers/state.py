"""What the fake remembers: files, batches, rows, executions and what each of them cost."""

import hashlib
import hmac
import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.providers.answers import Answers, Ask
from tests.providers.pricing import PriceTable
from tests.providers.traps import Traps

STATUSES_OF_THE_END = frozenset(["completed", "failed", "expired", "cancelled"])


class Clock:
    """Seconds since 1970; real time and what was added to it, or only what was added."""

    def __init__(self, start: float | None = None) -> None:
        self._manual = start is not None
        self._offset = start or 0.0

    def now(self) -> float:
        return self._offset if self._manual else time.time() + self._offset

    def advance(self, seconds: float) -> float:
        self._offset += seconds
        return self.now()


def rfc3339(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:26] + "Z"


class Ids:
    """Names that nobody guesses and that the same seed gives again."""

    def __init__(self, seed: int) -> None:
        self._seed = str(seed).encode()
        self._counter = 0

    def new(self, prefix: str = "", length: int = 24) -> str:
        self._counter += 1
        digest = hmac.new(self._seed, f"{prefix}{self._counter}".encode(), hashlib.sha256)
        return prefix + digest.hexdigest()[:length]


@dataclass
class Hidden:
    """What cannot be seen yet: for a number of looks, or until a time."""

    looks: int = 0
    until: float = 0.0

    def hides(self, now: float) -> bool:
        if self.looks > 0:
            self.looks -= 1
            return True
        return now < self.until


@dataclass
class StoredFile:
    id: str
    provider: str
    workspace: str
    name: str
    content: bytes
    created_at: float
    purpose: str = "batch"
    generated: bool = False
    mime_type: str = "application/jsonl"
    hidden: Hidden = field(default_factory=Hidden)


@dataclass(slots=True)
class Execution:
    """One run of a model, which is what is paid for."""

    token: str
    provider: str
    model: str
    served_model: str
    mode: str
    batch_id: str | None
    custom_id: str | None
    fingerprint: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost_nano_usd: int
    at: float


@dataclass(slots=True)
class Row:
    """One line of a batch.

    Attributes:
        ask: What it asks; None if the line is invalid, which ``refusal`` then tells.
        traps: Row traps by name, with their parameters.
        body: The provider's answer in its own shape, once there is one.
        ended: ``succeeded``, ``errored``, ``expired`` or ``canceled``; None while it waits.
    """

    index: int
    custom_id: str
    ask: Ask | None
    raw: Any
    metadata: Any = None
    refusal: str | None = None
    traps: dict[str, dict[str, Any]] = field(default_factory=dict)
    ended: str | None = None
    body: Any = None
    status: int = 200
    error_code: str | None = None
    execution: Execution | None = None


@dataclass
class Batch:
    id: str
    provider: str
    workspace: str
    key: str
    created_at: float
    rows: list[Row]
    endpoint: str = ""
    model: str = ""
    name: str = ""
    metadata: dict[str, str] | None = None
    input_file_id: str | None = None
    inline: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
    traps: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: str = "validating"
    error: tuple[str, str, int | None] | None = None
    runs_from: float = 0.0
    runs_until: float = 0.0
    expires_at: float = 0.0
    cancel_at: float | None = None
    ended_at: float | None = None
    executed: int = 0
    hidden_get: Hidden = field(default_factory=Hidden)
    hidden_list: Hidden = field(default_factory=Hidden)
    files: dict[str, StoredFile] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.status in STATUSES_OF_THE_END

    def counts(self) -> Counter[str]:
        return Counter(row.ended or "processing" for row in self.rows)


@dataclass
class Timing:
    """How long a batch takes, in seconds of the fake's clock."""

    validate_seconds: float = 1.0
    run_seconds: float = 60.0
    cancel_seconds: float = 1.0
    window_seconds: float = 86_400.0


@dataclass
class World:
    """Everything that the fake knows; ``lock`` is held by whoever reads or writes it."""

    seed: int = 0
    clock: Clock = field(default_factory=Clock)
    timing: Timing = field(default_factory=Timing)
    lock: Any = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.ids = Ids(self.seed)
        self.prices = PriceTable()
        self.answers = Answers(self.seed)
        # What the control API does besides, by method and path below ``/_fake``.
        self.more_controls: dict[tuple[str, str], Callable[[World, Any], Any]] = {}
        self.traps = Traps(self.seed, self.clock.now)
        self.keys: dict[str, dict[str, str]] = {"*": {"fake-key": "main", "fake-key-2": "main"}}
        self.limits: dict[str, dict[str, int]] = {}
        self.calls: defaultdict[str, list[float]] = defaultdict(list)
        self.bugs: list[str] = []
        self.broken_limits: list[dict[str, Any]] = []
        self.files: dict[str, StoredFile] = {}
        self.uploads: dict[str, tuple[dict[str, Any], str, bytearray]] = {}
        self.batches: dict[str, Batch] = {}
        self.executions: list[Execution] = []
        self.requests: Counter[str] = Counter()
        self.refusals: list[dict[str, Any]] = []
        self.s3_endpoint: str | None = None
        self.objects: dict[tuple[str, str], bytes] = {}
        self.bucket_owner = "123456789012"
        # The external id that each role demands, None where it demands none.
        self.roles: dict[str, str | None] = {}
        self.assumed: list[dict[str, str]] = []
        self.sts_failures = 0

    def workspace_of(self, provider: str, key: str) -> str | None:
        """The workspace that a key belongs to; None if the key is unknown."""
        for owner in (provider, "*"):
            if key in self.keys.get(owner, {}):
                return self.keys[owner][key]
        return None

    def file(self, provider: str, workspace: str, file_id: str) -> StoredFile | None:
        found = self.files.get(file_id)
        if found is None or (found.provider, found.workspace) != (provider, workspace):
            return None
        return found

    def bill(self) -> dict[str, Any]:
        """Sums of nano-USD and tokens: in all, by provider, by model, by batch and by mode."""
        sums: dict[str, Counter[str]] = {
            name: Counter() for name in ("provider", "model", "batch", "mode")
        }
        tokens: Counter[str] = Counter()
        for one in self.executions:
            sums["provider"][one.provider] += one.cost_nano_usd
            sums["model"][f"{one.provider}/{one.model}"] += one.cost_nano_usd
            sums["batch"][one.batch_id or ""] += one.cost_nano_usd
            sums["mode"][one.mode] += one.cost_nano_usd
            tokens["input"] += one.input_tokens
            tokens["cached"] += one.cached_tokens
            tokens["output"] += one.output_tokens
        return {
            "total_nano_usd": sum(sums["provider"].values()),
            "executions": len(self.executions),
            "tokens": {name: tokens[name] for name in ("input", "cached", "output")},
            **{f"by_{name}": dict(found) for name, found in sums.items()},
        }


def fingerprint(document: Any) -> str:
    """The same for requests that ask the same, whatever their custom id."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]
