"""Where calls are stored, their answers, and which completions wait for which call.

``pk=call_…`` holds the call (``call``) and its answer until that is applied (``answer#<sha>#<n>``);
``pk=cmp_…, sk=wait#<grader>#<version>`` points from a completion to the call that it waits for; of
a later generation ``sk=wait#<generation>#<grader>#<version>``.
"""

import hashlib
import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta

from autotune.protocol.ids import is_id
from autotune_platform.judging.http.calls import Asked, Call
from autotune_platform.storage.table import Item, Key, Table
from autotune_platform.verdicts.stored_verdicts import of_generation

_CALL = "call"
_WAIT = "wait#"
_KEPT = timedelta(days=7)
_PART_BYTES = 300_000


class CallRepository:
    """Calls in the ``completions`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, call: Call) -> None:
        """Store a call before it is made: its answer may come at any time after that."""
        self._table.put_new(
            {"pk": call.id, "sk": _CALL, "expires_at": _expiry(call), **_attributes(call)}
        )

    def get(self, call_id: str) -> Call | None:
        """Return a call of any organisation."""
        item = self._table.get(call_id, _CALL) if is_id("call", call_id) else None
        return _call(item) if item else None

    def add_waits(self, call: Call) -> None:
        """Let the completions of a call wait for it."""
        self._table.put_many(
            {
                "pk": completion_id,
                "sk": _wait(call.grader_id, call.grader_version, call.generation),
                "call_id": call.id,
                "expires_at": _expiry(call),
            }
            for completion_id in call.completion_ids
        )

    def awaited(self, asked: Iterable[Asked]) -> dict[Asked, Call]:
        """Return the calls whose answers are waited for, or were, by what was asked."""
        keys: dict[Key, Asked] = {
            (one.completion_id, _wait(one.grader_id, one.grader_version, one.generation)): one
            for one in asked
        }
        found = {keys[key]: item["call_id"] for key, item in self._table.get_many(keys).items()}
        items = self._table.get_many((call_id, _CALL) for call_id in found.values())
        calls = {pk: _call(item) for (pk, _), item in items.items()}
        return {asked: calls[call_id] for asked, call_id in found.items() if call_id in calls}

    def asked_about(self, completion_id: str) -> list[str]:
        """Return the ids of the calls that a completion waits for, or did."""
        items = self._table.items(completion_id, starting=_WAIT)
        return [item["call_id"] for item in items]

    def get_many(self, call_ids: Iterable[str]) -> list[Call]:
        """Return those calls that there are, of any organisation."""
        items = self._table.get_many((call_id, _CALL) for call_id in call_ids)
        return [_call(item) for item in items.values()]

    def take_over(self, call: Call, run_id: str) -> None:
        """Let the answer to an open call wake another run than the one that asked."""
        self._table.update(call.id, _CALL, {"run_id": run_id}, only_if={"state": "open"})

    def note_heartbeat(self, call: Call, by: datetime) -> Call | None:
        """Put off when the next sign of life is due; return None where the call is not open."""
        beaten = _attributes(call.model_copy(update={"heartbeat_by": by}))
        changed = self._table.update(
            call.id, _CALL, {"heartbeat_by": beaten["heartbeat_by"]}, only_if={"state": "open"}
        )
        return _call(changed) if changed else None

    def expire(self, call: Call) -> Call | None:
        """End an open call without an answer; return None where one, or a heartbeat, came first."""
        expected = {"state": "open"}
        if call.heartbeat_by is not None:
            expected["heartbeat_by"] = _attributes(call)["heartbeat_by"]
        changed = self._table.update(call.id, _CALL, {"state": "expired"}, only_if=expected)
        return _call(changed) if changed else None

    def record(self, call: Call, body: bytes, *, at: datetime) -> Call | None:
        """Store the answer to an open call; return None where it was answered or expired before."""
        packed = zlib.compress(body, level=6)
        parts = [
            packed[start : start + _PART_BYTES] for start in range(0, len(packed), _PART_BYTES)
        ]
        sha256 = hashlib.sha256(body).hexdigest()
        # The parts first, under their content: another answer at the same time cannot mix with it.
        self._table.put_many(
            {"pk": call.id, "sk": _part(sha256, n), "part": part, "expires_at": _expiry(call)}
            for n, part in enumerate(parts)
        )
        answered = {
            "state": "answered",
            "answered_at": at,
            "answer_sha256": sha256,
            "answer_parts": len(parts),
        }
        changes = {name: _attributes(call.model_copy(update=answered))[name] for name in answered}
        changed = self._table.update(call.id, _CALL, changes, only_if={"state": "open"})
        return _call(changed) if changed else None

    def answer(self, call: Call) -> bytes | None:
        """Return the body of a recorded answer; None once it is applied."""
        keys = _parts(call)
        items = self._table.get_many(keys)
        if not keys or len(items) < len(keys):
            return None
        return zlib.decompress(b"".join(items[key]["part"] for key in keys))

    def forget_answer(self, call: Call) -> None:
        """Delete the body of an answer, once verdicts hold what is to be kept of it."""
        self._table.update(call.id, _CALL, {"answer_parts": 0})
        for pk, sk in _parts(call):
            self._table.delete(pk, sk)


def _attributes(call: Call) -> Item:
    left_out = {"id"} if call.generation else {"id", "generation"}
    return call.model_dump(mode="json", exclude=left_out, exclude_none=True)


def _call(item: Item) -> Call:
    return Call.model_validate({**item, "id": item["pk"]})


def _parts(call: Call) -> list[Key]:
    return [(call.id, _part(call.answer_sha256 or "", n)) for n in range(call.answer_parts)]


def _part(sha256: str, n: int) -> str:
    return f"answer#{sha256}#{n}"


def _wait(grader_id: str, version: str, generation: int) -> str:
    return f"{_WAIT}{of_generation(generation)}{grader_id}#{version}"


def _expiry(call: Call) -> int:
    return int((call.due_at + _KEPT).timestamp())
