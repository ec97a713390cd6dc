"""Captured calls are erased when their time is over, with all that was said of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.decks import SampleEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.telemetry import TelemetryParts
from functions.decks import erase_expired
from tests.support.decks import chat, new_deck, new_deck_grader
from tests.support.kept import kept
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, handler
from tests.support.platform import Platform

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LARGE = "".join(chr(256 + n * 7919 % 40_000) for n in range(300_000))


class _Then:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at


def take(platform: Platform, system: str, *, days: int | None, source: str, text: str = "q") -> Any:
    said = chat(text, output="a", system=system)
    parts = TelemetryParts(SampleEnvironment.parse())
    intake_ = parts.telemetry_intake
    intake_.clock = _Then()
    return intake_.take(
        platform.me()["organizationId"],
        source_id=source,
        deck_id=None,
        request=said["request"],
        response=said["response"],
        provider=None,
        model=None,
        metadata={},
        captured_at=NOW,
        expires_at=None if days is None else NOW + timedelta(days=days),
    )


def sweep(at: datetime) -> int:
    module = handler("functions.decks.erase_expired")
    swept = erase_expired.parts().expiry_sweep
    swept.clock = _Then()
    swept.clock.at = at
    return int(module({}, LambdaContext(120))["expired"])


def left(*ids: str) -> list[str]:
    """Return where something is kept that names one of these ids, but in the audit log."""
    return sorted(
        f"{one.place}: {one.key}"
        for one in kept()
        if "audit" not in one.place
        and "#call#" not in one.key
        and any(id_ in one.key + str(one.item) for id_ in ids)
    )


def test_an_expired_sample_goes_with_its_texts_and_what_was_said_of_it(platform: Platform) -> None:
    deck_id = new_deck(platform, systemPrompt="Mine.")["id"]
    grader_id = new_deck_grader(platform, deck_id)["id"]
    brief = take(platform, "Mine.", days=1, source="1", text=LARGE)
    longer = take(platform, "Mine.", days=3, source="2")
    forever = take(platform, "Mine.", days=None, source="3", text="other")
    said = {"pk": grader_id, "sk": f"result#000001#{brief.sample_id}", "level": 1}
    owner = {"organization_id": platform.me()["organizationId"]}
    beside = {
        "pk": brief.sample_id,
        "sk": f"result#{grader_id}#000001",
        "result_sk": said["sk"],
        "grader_id": grader_id,
    }
    for item in (said, beside):
        Table("decks", clients.dynamodb()).put({**item, **owner})
    path = f"/api/v1/decks/{deck_id}/samples"
    shown = platform.call("GET", f"{path}/{brief.sample_id}").json["sample"]
    assert shown["expiresAt"] == "2026-03-02T12:00:00Z"
    assert any(one.key.endswith(brief.sample_id) for one in kept() if "bucket" in one.place)

    assert sweep(NOW + timedelta(hours=23)) == 0
    assert sweep(NOW + timedelta(days=1, minutes=1)) == 1
    assert left(brief.sample_id) == []
    assert platform.call("GET", f"/api/v1/decks/{deck_id}").json["deck"]["samples"] == 2
    assert sweep(NOW + timedelta(days=400)) == 1
    assert left(longer.sample_id) == []
    (only,) = platform.call("GET", path).json["samples"]
    assert (only["id"], only["expiresAt"]) == (forever.sample_id, None)


def test_a_sample_that_was_deleted_before_leaves_nothing_to_sweep(platform: Platform) -> None:
    deck_id = new_deck(platform, systemPrompt="Mine.")["id"]
    taken = take(platform, "Mine.", days=1, source="1")
    path = f"/api/v1/decks/{deck_id}/samples/{taken.sample_id}"
    assert platform.call("DELETE", path).status == 204
    assert left(taken.sample_id) == []
    assert sweep(NOW + timedelta(days=2)) == 0


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
def test_a_sweep_that_is_killed_goes_on(platform: Platform, moment: str) -> None:
    deck_id = new_deck(platform, systemPrompt="Mine.")["id"]
    new_deck_grader(platform, deck_id)
    killer = Killer()
    for after in range(12, 60, 4):
        taken = take(platform, "Mine.", days=1, source=f"{after}")
        killer.kill(moment, after=after)
        try:
            sweep(NOW + timedelta(days=2))
        except (Killed, ExceptionGroup):
            killer.spare()
            sweep(NOW + timedelta(days=2))
        else:
            killer.spare()
            assert left(taken.sample_id) == []
            break
        assert left(taken.sample_id) == []
        assert platform.call("GET", f"/api/v1/decks/{deck_id}").json["deck"]["samples"] == 0
    else:
        pytest.fail("it never came through")


def test_a_prompt_is_kept_as_long_as_calls_have_it(platform: Platform) -> None:
    prompt = take(platform, "Nobody's.", days=1, source="1").unmatched_id
    take(platform, "Nobody's.", days=4, source="2")
    assert sweep(NOW + timedelta(days=2)) == 1
    assert len(platform.call("GET", "/api/v1/unmatched-prompts").json["prompts"]) == 1
    assert sweep(NOW + timedelta(days=3)) == 0
    assert sweep(NOW + timedelta(days=5)) == 1
    assert left(prompt) == []
    assert platform.call("GET", "/api/v1/unmatched-prompts").json["prompts"] == []


def test_a_prompt_without_retention_goes_a_month_after_its_last_call(platform: Platform) -> None:
    prompt = take(platform, "Nobody's.", days=None, source="1").unmatched_id
    assert sweep(NOW + timedelta(days=29)) == 0
    assert sweep(NOW + timedelta(days=31)) == 1
    assert left(prompt) == []
