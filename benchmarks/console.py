"""How long pages of the console take to their first data, and what they ask for.

A batch is scored by the whole stack, and repeated in its table (``repeated_batch.py``) to a
thousand completions and to a hundred thousand. At each size a Chromium that is signed in goes over
all views that pages link to, several times. Requests to the API are counted in the browser, reads
of DynamoDB on the wire between functions and emulator.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

from autotune import AutotuneClient
from autotune_platform.storage.table import Table
from benchmarks.emulator import until_quiet
from benchmarks.repeated_batch import ScoredBatch, items_of, store
from benchmarks.stand import CountedStand
from benchmarks.texts import prompts
from local.endpoint import REGION
from tools.browser import launched
from tools.console_views import Reader, reading, shape_of

BATCH = 100
SIZES = (1_000, 100_000)
MODELS = 4
ROUNDS = 3
OF_WHO_ASKS = 4
"""Most reads of a request that say whether it may be made: session, key, organisation, rate."""
AWAY = ("#/sessions", "#/reward-urls")

_READS = ("Query", "GetItem", "BatchGetItem")
_PATIENCE = 120.0
_QUIET_SECONDS = 3.0
_PAUSE_SECONDS, _LONGEST_PAUSE = 0.5, 5.0


@dataclass(frozen=True)
class View:
    """What one view took, over several rounds.

    Attributes:
        shape: the view, ids and filters' values taken out.
        completions: how many there were.
        requests: those to the API until its first data was there.
        reads: reads of DynamoDB for them, in the round with the fewest.
        seconds: until then, the median.
        longest: the longest.
    """

    shape: str
    completions: int
    requests: int
    reads: int
    seconds: float
    longest: float

    def as_json(self) -> dict[str, Any]:
        """Return it for the report."""
        return {
            "view": self.shape,
            "completions": self.completions,
            "requests": self.requests,
            "reads": self.reads,
            "seconds": round(self.seconds, 3),
            "longest": round(self.longest, 3),
        }


def measure(
    stand: CountedStand, task_id: str, *, sizes: Sequence[int] = SIZES
) -> Iterator[list[View]]:
    """Yield what all views took, at one size after the other."""
    dynamodb = client_of(stand, "dynamodb")
    (name,) = (one for one in dynamodb.list_tables()["TableNames"] if "Completions" in one)
    with stand.client() as client:
        batch_id = score_one_batch(client, task_id)
        until_quiet(stand.proxy.calls, seconds=_QUIET_SECONDS, limit_seconds=_PATIENCE)
        stop_following(stand)
        scored = ScoredBatch.among(items_of(dynamodb, name), batch_id)
        stored = 1
        for size in sizes:
            store(Table(name, dynamodb), scored, range(stored, size // BATCH))
            stored = size // BATCH
            with signed_in(client) as reader:
                yield [*timed(stand, reader, size)]


def score_one_batch(client: AutotuneClient, task_id: str) -> str:
    """Have a batch scored, of the same prompts by each model; return its id."""
    asked = list(prompts(BATCH // MODELS, text_bytes=200))
    (batch,) = client.completions.submit_many(
        {
            "taskId": task_id,
            "modelId": f"policy-{model}",
            "prompt": prompt,
            "response": f"{prompt[model:]}.",
        }
        for prompt in asked
        for model in range(MODELS)
    )
    decided = client.batches.wait(batch.batch_id, timeout=_PATIENCE)
    assert decided.counts.scored == BATCH, decided.counts
    return batch.batch_id


def stop_following(stand: CountedStand) -> None:
    """Have no function follow tables any more: what is written next is counted already."""
    functions = client_of(stand, "lambda")
    for one in functions.list_event_source_mappings()["EventSourceMappings"]:
        if ":dynamodb:" in one["EventSourceArn"]:
            functions.update_event_source_mapping(UUID=one["UUID"], Enabled=False)


@contextmanager
def signed_in(client: AutotuneClient) -> Iterator[Reader]:
    """Open the console in a browser of its own, signed in with the client's key."""
    link = client.sessions.create(name="benchmark").url
    with launched() as browser, reading(browser, link, seconds=_PATIENCE) as reader:
        yield reader


def timed(stand: CountedStand, reader: Reader, size: int) -> Iterator[View]:
    """Yield what each view takes; the first time, which starts functions, is none of the rounds."""
    views = list(reader.views())
    seconds: dict[str, list[float]] = defaultdict(list)
    requests: dict[str, list[int]] = defaultdict(list)
    reads: dict[str, list[int]] = defaultdict(list)
    for _ in range(ROUNDS):
        for view in views:
            # From another page, so that nothing of this one is there.
            reader.go(next(page for page in AWAY if not view.startswith(page)))
            until_quiet(stand.proxy.calls, seconds=_PAUSE_SECONDS, limit_seconds=_LONGEST_PAUSE)
            asked, before = len(reader.asked), stand.proxy.counted()
            seconds[view].append(reader.seconds_to(view))
            requests[view].append(len(reader.asked) - asked)
            # What it still asks for is none of the next one's.
            until_quiet(stand.proxy.calls, seconds=_PAUSE_SECONDS, limit_seconds=_LONGEST_PAUSE)
            calls = stand.proxy.counted().since(before).calls
            reads[view].append(sum(calls[f"dynamodb.{name}"] for name in _READS))
    assert reader.troubles == [], reader.troubles
    for view in views:
        yield View(
            shape=shape_of(view),
            completions=size,
            requests=min(requests[view]),
            reads=min(reads[view]),
            seconds=statistics.median(seconds[view]),
            longest=max(seconds[view]),
        )


def changed(small: Sequence[View], large: Sequence[View]) -> list[str]:
    """Return the shapes of those views that ask for more where there is more.

    Who asks is read anew by each process every half minute: that is no difference.
    """
    before = {view.shape: view for view in small}
    return [
        view.shape
        for view in large
        if (known := before.get(view.shape)) is not None
        and (
            view.requests != known.requests
            or view.reads > known.reads + OF_WHO_ASKS * view.requests
        )
    ]


def client_of(stand: CountedStand, service: Any) -> Any:
    """Return a client of the emulator, past the proxy that counts."""
    session: Any = boto3.Session("test", "test", region_name=REGION)
    config = Config(proxies={}, read_timeout=120)
    return session.client(service, endpoint_url=stand.profile.aws_endpoint_url, config=config)
