"""Completions and verdicts of one task, each computed from its number: and kept nowhere.

Items are those that the platform itself would store, spelled out by hand because a million of them
has to take seconds; a test holds them against what the platform stores.
"""

import base64
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from autotune.protocol.ids import derived_id
from autotune_platform.completions.content import CONTENT, pack
from autotune_platform.verdicts.stored_verdicts import verdict_key

Item = dict[str, Any]

ORGANIZATION = derived_id("org", "benchmark")
TASK = derived_id("task", "benchmark")
GRADER = derived_id("grd", "benchmark")
VERSION = "1"
RESPONSES = 4
"""Responses to each prompt, one after the other."""

# Never on a full second, which is written without a fraction and so sorts after its fractions.
_FIRST = datetime(2026, 5, 1, microsecond=7_000, tzinfo=UTC)
_APART = timedelta(milliseconds=40)
_SCORED_AFTER = timedelta(seconds=2)
_KNUTH = 2_654_435_761
_SENTENCES = 8_192
_WORDS = 3_000


def completion_id(number: int) -> str:
    """Return a completion's id."""
    return f"cmp_{number:026d}"


def number_of(id_: str) -> int:
    """Return the number that an id was made of."""
    return int(id_.removeprefix("cmp_"))


def state(number: int) -> str:
    """Return how a completion ended: 98 of 100 were scored."""
    return {17: "failed", 42: "abstained"}.get(number % 100, "scored")


def has_text(number: int) -> bool:
    """Tell whether a text is there; one in a thousand was deleted."""
    return number % 1_000 != 501


def value(number: int) -> float:
    """Return a score: thousandths, spread evenly."""
    return ((number * _KNUTH & 0xFFFFFFFF) * 1_001 >> 32) / 1_000


def confidence(number: int) -> float:
    """Return how sure the grader was."""
    return (50 + number % 50) / 100


def prompt(number: int) -> str:
    """Return the prompt, about 400 characters; so many completions have the same."""
    place = number // RESPONSES
    return f"Question {place}. {_sentences(place, 4)}"


def response(number: int) -> str:
    """Return the response, about 1,000 characters."""
    return f"Answer {number}. {_sentences(number * 31 + 7, 10)}"


def metadata(number: int) -> dict[str, Any]:
    """Return what the trainer submitted beside the text."""
    return {"step": number // 512, "answer": str(number)}


@dataclass(frozen=True)
class Moments:
    """When a completion was submitted and decided, as text."""

    submitted: str
    decided: str


def moments(number: int) -> Moments:
    """Return when a completion was submitted and decided; later ones are decided later."""
    decided = _FIRST + number * _APART
    return Moments(_written(decided - _SCORED_AFTER), _written(decided))


def score_time(number: int) -> str:
    """Return a verdict's sort key in the index."""
    return f"{moments(number).decided}#{completion_id(number)}"


def index_entry(number: int, shard: int) -> Item:
    """Return what the index ``scoresByTask`` holds of a verdict, as on DynamoDB's wire."""
    entry = _verdict_attributes(number)
    entry["score_shard"] = {"S": f"{TASK}#{shard}"}
    entry["score_time"] = {"S": f"{entry['decided_at']['S']}#{entry['pk']['S']}"}
    return entry


def verdict_item(number: int, shard: int) -> Item:
    """Return the item of a verdict."""
    item = {**index_entry(number, shard), "index": {"N": str(_index(number))}}
    if state(number) == "scored":
        item["grader_latency_ms"] = {"N": str(100 + number % 900)}
        item["dimensions"] = {"S": dimensions(number)}
    return item


def dimensions(number: int) -> str:
    """Return a verdict's dimensions as they are kept, as text."""
    named = [
        {"name": "correctness", "value": value(number), "weight": 0.75},
        {"name": "style", "value": confidence(number), "weight": 0.25},
    ]
    return json.dumps(named, separators=(",", ":"))


def content_item(number: int) -> Item:
    """Return the item of a completion's text."""
    packed = pack(prompt(number), response(number), metadata(number))
    return {
        "pk": {"S": completion_id(number)},
        "sk": {"S": CONTENT},
        "organization_id": {"S": ORGANIZATION},
        "batch_id": {"S": _batch_id(number)},
        "task_id": {"S": TASK},
        "model_id": {"S": model_id(number)},
        "grader_id": {"S": GRADER},
        "grader_version": {"S": VERSION},
        "index": {"N": str(_index(number))},
        "share_identity": {"BOOL": False},
        "deadline_seconds": {"N": "604800"},
        "created_at": {"S": moments(number).submitted.replace("Z", "+00:00")},
        "body": {"B": base64.b64encode(packed).decode()},
    }


def model_id(number: int) -> str:
    """Return which model responded."""
    return f"policy-{number % RESPONSES}"


def verdict_sort_key() -> str:
    """Return the sort key of the verdict on any completion."""
    return verdict_key(GRADER, VERSION)


def _verdict_attributes(number: int) -> Item:
    when = moments(number)
    item: Item = {
        "pk": {"S": completion_id(number)},
        "sk": {"S": verdict_sort_key()},
        "organization_id": {"S": ORGANIZATION},
        "batch_id": {"S": _batch_id(number)},
        "task_id": {"S": TASK},
        "model_id": {"S": model_id(number)},
        "grader_id": {"S": GRADER},
        "grader_version": {"S": VERSION},
        "state": {"S": state(number)},
        "attempts": {"N": "1"},
        "submitted_at": {"S": when.submitted},
        "decided_at": {"S": when.decided},
    }
    if state(number) == "scored":
        item["value"] = {"N": f"{value(number):g}"}
        item["confidence"] = {"N": f"{confidence(number):g}"}
    if state(number) == "failed":
        item["reason_code"] = {"S": "grader_timeout"}
    return item


def _batch_id(number: int) -> str:
    return f"bat_{number // 100:026d}"


def _index(number: int) -> int:
    return number % 100


def _written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _sentences(seed: int, count: int) -> str:
    bank = _bank()
    return " ".join(bank[(seed * 7 + place * 1_013) % _SENTENCES] for place in range(count))


@cache
def _bank() -> list[str]:
    """Return sentences of about 100 characters, the same in every process."""
    chance = random.Random(20_260_501)  # noqa: S311 - nothing secret
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = [
        "".join(chance.choices(letters, weights=range(26, 0, -1), k=chance.randint(2, 10)))
        for _ in range(_WORDS)
    ]
    return [" ".join(chance.choices(words, k=16)).capitalize() + "." for _ in range(_SENTENCES)]
