"""Which traps of the fake are set in a round, and what is done so that each meets its occasion."""

import random
from collections.abc import Callable

from tests.chaos_ledger.storm import Storm
from tests.providers.catalogue import BATCH, CATALOGUE, CONTENT, REQUEST
from tests.providers.state import Batch
from tests.providers.traps import Traps

# They need Bedrock; or a name of ours that is too long, which there is not unless we are wrong; or
# single calls of OpenAI, which are few here: runs of the apprentice meet it (chaos/teacher.py).
NOT_SET = frozenset(
    [
        *(name for name in CATALOGUE if name.startswith("bedrock_")),
        "custom_id_65",
        "dearer_tier",
    ]
)
# No request for what is left at a provider is ever sent twice at once, or a second is a long time.
_PARAMS: dict[str, dict[str, object]] = {
    **{name: {"stall_seconds": 0.02} for name in CATALOGUE if name.endswith("_timeout")},
    **{name: {"seconds": 0.01} for name in CATALOGUE if name.endswith("_slow")},
    "download_stalls": {"stall_seconds": 0.02},
    "jsonl_long_line": {"bytes": 1_000_000},
    "output_id_later": {"seconds": 900},
    # Lists lag by time. Looks that a refused key did not get through would else not have counted.
    "list_lags": {"looks": 0, "seconds": 600},
}
_OF_ROWS = {
    "row_error": 0.01,
    "rows_missing": 0.003,
    "finish_length": 0.01,
    "finish_refusal": 0.01,
    "cached_tokens": 0.05,
    "other_model": 0.01,
    "no_usage": 0.01,
}
_ONCE = frozenset(["account_refused", "credit_ends"])
CANCELED, ROTATED = "cancel_completes", "old_key_only"
# Others have no words for these: there they would be spent in vain.
_AT = {
    CANCELED: ("openai", "azure", "gemini"),
    "inline_without_keys": ("gemini", "openrouter"),
    "output_id_empty": ("openai", "azure"),
}
_LOOK_SECONDS = 120
_LOOKED_SECONDS = 6 * 3600
_LOCKED_OUT_SECONDS = 1800


def arm(traps: Traps, draw: random.Random) -> None:
    """Set every trap, each for its own occasion."""
    for trap in CATALOGUE.values():
        if trap.name in NOT_SET or trap.name == "poison_row":
            continue
        params = _PARAMS.get(trap.name, {})
        if trap.name in _AT:
            for provider in _AT[trap.name]:
                few = draw.randrange(6)
                traps.arm(trap.name, provider=provider, times=1, after=few, params=params)
        elif trap.level in (REQUEST, BATCH, CONTENT):
            for _ in range(1 if trap.name in _ONCE else 2):
                few = draw.randrange(8 if trap.level == REQUEST else 12)
                traps.arm(trap.name, times=1, after=few, params=params)
    for name, chance in _OF_ROWS.items():
        if name == "row_error":
            for status in (500, 400, 429, 0):
                traps.arm(name, probability=chance / 4, params={"status": status})
        else:
            traps.arm(name, probability=chance)
    traps.arm("poison_row", times=None, contains="poisoned")


class Occasions:
    """Has jobs canceled, and keys replaced, whose traps wait for just that.

    A job runs for a quarter of an hour: by chance alone hardly anything comes by meanwhile.
    """

    def __init__(
        self,
        storm: Storm,
        *,
        cancel: Callable[[str, str], bool],
        rotate: Callable[[str, str], bool],
    ) -> None:
        """Look for such jobs again and again.

        Args:
            cancel: is given an organisation's id and one of its batches'.
            rotate: is given an organisation's id and one of its connections'.
        """
        self._storm, self._cancel, self._rotate = storm, cancel, rotate
        self._led: set[str] = set()
        storm.every(_LOOK_SECONDS, self._look, until=_LOOKED_SECONDS)

    def _look(self) -> None:
        waiting = [one for one in self._storm.fake.world.batches.values() if self._is_led(one)]
        if not waiting:
            return
        owners = {
            item["job"]["M"].get("job_id", {}).get("S"): item
            for item in self._storm.store.items("ledger")
            if item["pk"]["S"].startswith("lbt_") and "job" in item
        }
        for batch in waiting:
            if (owner := owners.get(batch.id)) is not None:
                self._led.add(batch.id)
                self._lead(batch, owner)

    def _is_led(self, batch: Batch) -> bool:
        is_waiting = CANCELED in batch.traps or ROTATED in batch.traps
        return is_waiting and not batch.over and batch.id not in self._led

    def _lead(self, batch: Batch, owner: dict[str, dict[str, str]]) -> None:
        organization_id, now = owner["organization_id"]["S"], self._storm.now
        if CANCELED in batch.traps:
            batch_id = owner["pk"]["S"]
            self._storm.at(now, lambda: self._cancel(organization_id, batch_id))
        if ROTATED in batch.traps:
            connection_id = owner["connection_id"]["S"]
            self._storm.at(now, lambda: self._lock_out(organization_id, connection_id, batch.key))

    def _lock_out(self, organization_id: str, connection_id: str, key: str) -> bool:
        """Have the key refused for a while that a job was created with, once there is another."""
        self._rotate(organization_id, connection_id)
        keys = self._storm.fake.world.keys["*"]
        owner = keys.pop(key, None)

        def take_back() -> bool:
            if owner is not None:
                keys[key] = owner
            return True

        self._storm.at(self._storm.now + _LOCKED_OUT_SECONDS, take_back)
        return True
