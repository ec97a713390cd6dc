"""A captured call becomes a sample of the deck whose prompt it has, once, or is counted."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.decks.telemetry import unmatched
from autotune_platform.decks.telemetry.models import Taken
from autotune_platform.runtime.environment.decks import SampleEnvironment
from autotune_platform.wiring.telemetry import TelemetryParts
from tests.support.decks import chat, new_deck
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, handler
from tests.support.platform import Platform
from tests.support.tables import items_of_tables

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
Take = Callable[..., Taken]


@pytest.fixture
def parts(platform: Platform) -> TelemetryParts:
    """What a function that takes in calls is put together from."""
    assert platform.me()
    return TelemetryParts(SampleEnvironment.parse())


@pytest.fixture
def organization(platform: Platform) -> str:
    """The organisation that calls are captured of."""
    found: str = platform.me()["organizationId"]
    return found


@pytest.fixture
def take(organization: str, parts: TelemetryParts) -> Take:
    """Hands a call over, of which a test says what matters to it."""

    def taken(system: str | None, *turns: str, source: str = "chatcmpl-1", **given: Any) -> Taken:
        said = chat(*(turns or ("Hello?",)), output="Yes.", system=system)
        return parts.telemetry_intake.take(
            given.pop("organization_id", organization),
            source_id=source,
            deck_id=given.pop("deck_id", None),
            request=given.pop("request", said["request"]),
            response=given.pop("response", said["response"]),
            provider="openai",
            model="gpt-4o",
            metadata={"from": "test"},
            captured_at=given.pop("captured_at", AT),
            expires_at=given.pop("expires_at", None),
        )

    return taken


def samples(platform: Platform, deck_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = platform.call("GET", f"/api/v1/decks/{deck_id}/samples").json[
        "samples"
    ]
    return found


def test_a_call_becomes_a_sample_of_the_deck_with_its_prompt(
    platform: Platform, take: Take
) -> None:
    new_deck(platform, systemPrompt="Another one.")
    deck = new_deck(platform, systemPrompt="Answer briefly.\nNever guess.")["id"]
    taken = take("\n\nAnswer briefly.  \r\nNever guess.\n")
    assert (taken.deck_id, taken.unmatched_id, taken.fault) == (deck, None, None)
    (sample,) = samples(platform, deck)
    assert sample["id"] == taken.sample_id
    assert (sample["collection"], sample["provider"], sample["model"]) == (
        "telemetry",
        "openai",
        "gpt-4o",
    )
    assert sample["requestedAt"] == "2026-01-31T12:00:00Z"
    path = f"/api/v1/decks/{deck}/samples/{taken.sample_id}"
    assert platform.call("GET", path).json["sample"]["metadata"] == {"from": "test"}
    assert take("answer briefly.\nNever guess.", source="other").sample_id is None, "case counts"


def test_templates_are_compared_by_what_is_literal_and_values_part_groups(
    platform: Platform, take: Take
) -> None:
    short = new_deck(platform, systemPrompt="You help {{name}}.")["id"]
    long = new_deck(platform, systemPrompt="You help {{name}} with {{what}}.")["id"]
    assert take("You help Ada with sums.", source="1").deck_id == long
    assert take("You help Bob with sums.", source="2").deck_id == long
    assert take("You help Ada.", source="3").deck_id == short
    groups = {one["groupKey"] for one in samples(platform, long)}
    assert len(groups) == 2, "what stands for placeholders is part of the input"
    assert take("You help Ada with sums", source="4").unmatched_id, "the end is literal"

    new_deck(platform, systemPrompt="You {{verb}} Ada with {{what}}..")
    tied = new_deck(platform, systemPrompt="You help {{name}} with {{thing}}.")["id"]
    lost = take("You help Ada with sums.", source="5")
    assert (lost.deck_id, bool(lost.unmatched_id)) == (None, True), "a tie is no match"
    platform.call("PATCH", f"/api/v1/decks/{tied}", {"status": "archived"})
    assert take("You help Ada with sums.", source="6").deck_id == long


def test_a_template_without_any_literal_text_takes_nothing(platform: Platform, take: Take) -> None:
    new_deck(platform, systemPrompt="{{everything}}")
    new_deck(platform, systemPrompt="{{one}} \n {{two}}")
    assert take("Anything at all.").deck_id is None


def test_all_versions_count_and_a_sample_names_the_one_that_it_has(
    platform: Platform, take: Take
) -> None:
    deck = new_deck(platform, systemPrompt="First for {{whom}}.")["id"]
    for prompt in ("Second.", "Third."):
        answer = platform.call("POST", f"/api/v1/decks/{deck}/versions", {"systemPrompt": prompt})
        assert answer.status == 201
    for text in ("First for me.", "Second.", "Third."):
        assert take(text, source=text).deck_id == deck
    versions = sorted(one["deckVersion"] for one in samples(platform, deck))
    assert versions == [1, 2, 3]


def test_a_deck_that_is_named_takes_a_call_whatever_its_prompt_is(
    platform: Platform, take: Take
) -> None:
    first = new_deck(platform, systemPrompt="First.")["id"]
    second = new_deck(platform, systemPrompt="Second.")["id"]
    assert take("First.", source="1", deck_id=second).deck_id == second
    assert take(None, source="2", deck_id=second).deck_id == second
    platform.call("PATCH", f"/api/v1/decks/{second}", {"status": "archived"})
    for number, named in enumerate([second, new_id("dck"), "nonsense"]):
        assert take("First.", source=f"x{number}", deck_id=named).deck_id == first
    assert take("Second.", source="3").deck_id is None


def test_prompts_of_other_organisations_are_nobodys(platform: Platform, take: Take) -> None:
    new_deck(platform, systemPrompt="Mine.")
    new_deck(platform, systemPrompt="Mine for {{whom}}.")
    other = platform.me(platform.new_organization("other"))["organizationId"]
    for text in ("Mine.", "Mine for you."):
        taken = take(text, source=text, organization_id=other)
        assert taken.deck_id is None
        assert taken.unmatched_id is not None


def test_a_call_is_taken_in_once(platform: Platform, take: Take) -> None:
    first = take("Later a deck.")
    assert first == take("Later a deck."), "counted once"
    deck = new_deck(platform, systemPrompt="Later a deck.")["id"]
    assert take("Later a deck.") == first, "what was decided stays"
    taken = take("Later a deck.", source="2")
    assert taken == take("Later a deck.", source="2")
    assert [one["id"] for one in samples(platform, deck)] == [taken.sample_id]
    platform.call("DELETE", f"/api/v1/decks/{deck}/samples/{taken.sample_id}")
    assert take("Later a deck.", source="2") == taken
    assert samples(platform, deck) == [], "a late one brings nothing back"


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
@pytest.mark.parametrize("text", ["A deck has it.", "No deck has it."])
def test_who_is_killed_anywhere_goes_on_and_counts_once(
    platform: Platform,
    organization: str,
    parts: TelemetryParts,
    take: Take,
    moment: str,
    text: str,
) -> None:
    deck = new_deck(platform, systemPrompt="A deck has it.")["id"]
    killer = Killer()
    for after in range(20):
        killer.kill(moment, after=after)
        try:
            taken = take(text, source=f"call-{after}")
        except Killed:
            killer.spare()
            taken = take(text, source=f"call-{after}")
            again = take(text, source=f"call-{after}")
            assert taken == again
        else:
            killer.spare()
            break
    else:
        pytest.fail("it never came through")
    assert after > 4
    listed = parts.unmatched_prompts.list(organization)
    if text == "A deck has it.":
        assert len(samples(platform, deck)) == after + 1
        assert listed == []
    else:
        assert [one.count for one in listed] == [after + 1]


def test_what_cannot_be_a_sample_is_named_and_nothing_is_kept(
    platform: Platform, take: Take
) -> None:
    deck = new_deck(platform, systemPrompt="A deck.")["id"]
    asked = chat("Hi", output="x", system="A deck.")
    faulty = {**asked["response"], "choices": []}
    for source, taken in {
        "choices": take("A deck.", source="choices", response=faulty),
        "system or developer": take(None, source="none"),
        "has not expired": take("A deck.", source="late", expires_at=AT),
        "characters": take("x" * 50_001, source="long"),
    }.items():
        assert (taken.sample_id, taken.unmatched_id) == (None, None)
        assert source in str(taken.fault)
    assert samples(platform, deck) == []
    assert [one for one in items_of_tables()["decks"] if "ump_" in str(one)] == []


def test_prompts_that_no_deck_has_are_counted_with_a_few_calls(
    organization: str, parts: TelemetryParts, take: Take
) -> None:
    for number in range(40):
        taken = take(
            "Common.", f"Q{number}", source=str(number), captured_at=AT.replace(minute=number)
        )
    take("Rare.", source="rare")
    common, rare = parts.unmatched_prompts.list(organization)
    assert (common.count, rare.count, common.id) == (40, 1, taken.unmatched_id)
    assert (common.first_seen_at, common.last_seen_at) == (AT, AT.replace(minute=39))
    assert parts.unmatched_prompts.text(common.id) == "Common."
    examples = parts.unmatched_prompts.examples(common.id, AT)
    assert len(examples) == 10
    assert {int(one.source_id) for one in examples} - set(range(10)), "later ones are drawn, too"


def test_a_flood_of_prompts_leaves_a_bounded_number_of_items(
    organization: str,
    parts: TelemetryParts,
    take: Take,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unmatched, "MAX_UNMATCHED_PROMPTS", 5)
    for number in range(3):
        take("Often seen.", source=f"often-{number}")
    for number in range(300):
        late = AT + timedelta(hours=number)
        take(f"Prompt {number}", source=f"flood-{number}", captured_at=late)
    listed = parts.unmatched_prompts.list(organization)
    assert len(listed) == 5
    assert listed[0].excerpt == "Often seen."
    assert any(int(one.excerpt.split()[1]) > 4 for one in listed[1:]), "new ones get in"
    kept = [one for one in items_of_tables()["decks"] if one["pk"]["S"].startswith("ump_")]
    assert len(kept) == 5 * 4 + 2, "head, text, due time and calls of each"
    passed = parts.unmatched_prompts.passed_over(organization)
    assert 200 < passed < 297


def test_templates_are_bounded_and_a_deleted_decks_make_room(
    platform: Platform, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.decks.prompt_index.MAX_PROMPT_TEMPLATES", 2)
    first = new_deck(platform, systemPrompt="A {{x}}")["id"]
    second = new_deck(platform, systemPrompt="B {{x}}")["id"]
    body = {"name": "third", "systemPrompt": "C {{x}}"}
    refused = platform.call("POST", "/api/v1/decks", body)
    assert (refused.status, refused.json["limit"]["name"]) == (409, "promptTemplates")
    path = f"/api/v1/decks/{second}/versions"
    assert platform.call("POST", path, {"systemPrompt": "D {{x}}"}).status == 409
    assert platform.call("POST", path, {"systemPrompt": "D"}).status == 201
    assert platform.call("DELETE", f"/api/v1/decks/{first}").status == 204
    assert take("A 1", source="gone").deck_id is None
    handler("functions.decks.erase_decks")({}, LambdaContext(120))
    assert platform.call("POST", "/api/v1/decks", body).status == 201
    assert take("C 1", source="there").deck_id is not None
    partitions = [one["pk"]["S"] for one in items_of_tables()["decks"] if first in str(one)]
    assert set(partitions) <= {first}, "the index has forgotten it"


def test_the_error_for_characters_names_them(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.decks.prompt_index.MAX_PROMPT_TEMPLATES_CHARACTERS", 20)
    new_deck(platform, systemPrompt="Twelve {{x}}")
    refused = platform.call("POST", "/api/v1/decks", {"name": "b", "systemPrompt": "Twelve {{y}}"})
    assert refused.status == 409
    assert refused.json["limit"]["unit"] == "characters"
