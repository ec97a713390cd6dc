"""Chat completions that were passed through become samples, where an admin has said so."""

import json
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.decks.telemetry.intake import TelemetryIntake
from functions.compatible import chat_api
from tests.providers.chat_openai import OpenAiChat
from tests.support.compatible import Compatible
from tests.support.deck_runs import DeckRuns
from tests.support.decks import new_deck
from tests.support.imports import Imports
from tests.support.lambdas import Answer, LambdaContext, handler
from tests.support.ledger import MODEL, Ledger, later

PROMPT = "You answer questions of customers."
CAPTURE = "/api/v1/deck-capture"
NOT_HANDED_OVER = "a call was not handed over to capture"


@pytest.fixture
def compatible(ledger: Ledger) -> Compatible:
    return Compatible(ledger, Imports(ledger))


def set_capture(compatible: Compatible, **fields: Any) -> Answer:
    answer = compatible.ledger.platform.call("PUT", CAPTURE, {"enabled": True, **fields})
    # A process reads settings once a minute.
    chat_api.parts().capture_handover._cache.clear()
    return answer


def ask(compatible: Compatible, user: str = "Hi", **fields: Any) -> Any:
    headers = fields.pop("headers", {})
    body = {
        "model": f"fake/{MODEL}",
        "messages": [{"role": "system", "content": PROMPT}, {"role": "user", "content": user}],
        **fields,
    }
    answer = compatible.ask("POST", "/chat/completions", body, headers=headers)
    assert answer.status == 200, answer.text
    return answer.json


def handed_over() -> list[dict[str, Any]]:
    """Take the messages of the queue, as Lambda gives them to a function."""
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="captures")["QueueUrl"]
    found = []
    while got := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        for one in got:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
            found.append({"messageId": one["MessageId"], "body": one["Body"]})
    return found


def capture(records: list[dict[str, Any]]) -> list[str]:
    """Have messages captured; return the bodies of those that failed."""
    answer = handler("functions.decks.capture_calls")({"Records": records}, LambdaContext(60))
    failed = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
    return [one["body"] for one in records if one["messageId"] in failed]


def samples(compatible: Compatible, deck_id: str) -> list[dict[str, Any]]:
    platform = compatible.ledger.platform
    listed = platform.call("GET", f"/api/v1/decks/{deck_id}/samples").json["samples"]
    return [
        platform.call("GET", f"/api/v1/decks/{deck_id}/samples/{one['id']}").json["sample"]
        for one in listed
    ]


def deck(compatible: Compatible, prompt: str = PROMPT) -> str:
    made: str = new_deck(compatible.ledger.platform, systemPrompt=prompt)["id"]
    return made


def test_nothing_is_captured_at_first(compatible: Compatible) -> None:
    shown = compatible.ledger.platform.call("GET", CAPTURE).json["capture"]
    assert (shown["enabled"], shown["updatedAt"]) == (False, None)
    ask(compatible)
    assert handed_over() == []


def test_a_call_becomes_a_sample_of_the_deck_whose_prompt_it_has(compatible: Compatible) -> None:
    deck_id = deck(compatible)
    assert set_capture(compatible, metadataNames=["team", "user"]).status == 200
    labels = {"x-autotune-labels": json.dumps({"team": "a", "secret": "b"})}
    answer = ask(compatible, metadata={"user": "u1", "other": "x"}, headers=labels)
    assert capture(handed_over()) == []
    (found,) = samples(compatible, deck_id)
    assert found["request"]["messages"][1]["content"] == "Hi"
    assert found["response"] == answer
    assert (found["collection"], found["provider"]) == ("telemetry", "simulated")
    assert found["metadata"] == {"team": "a", "user": "u1"}
    assert found["request"]["metadata"] == {"user": "u1"}, "nor of the request is more stored"


def test_a_call_that_is_handed_over_twice_is_one_sample(compatible: Compatible) -> None:
    deck_id = deck(compatible)
    set_capture(compatible)
    ask(compatible)
    records = handed_over()
    for _ in range(3):
        assert capture(records) == []
    assert len(samples(compatible, deck_id)) == 1


def repeat_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the provider give each answer the same id, as some servers do."""
    render = OpenAiChat.render

    def alike(one: OpenAiChat, *args: Any) -> dict[str, Any]:
        return {**render(one, *args), "id": "chatcmpl-always"}

    monkeypatch.setattr(OpenAiChat, "render", alike)


def test_calls_whose_answers_have_one_id_are_samples_each(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat_ids(monkeypatch)
    deck_id = deck(compatible)
    set_capture(compatible)
    answers = [ask(compatible, user) for user in ("Hi", "Hi", "Bye")]
    assert {one["id"] for one in answers} == {"chatcmpl-always"}
    records = handed_over()
    for _ in range(3):
        assert capture(records) == []
    asked = sorted(one["request"]["messages"][1]["content"] for one in samples(compatible, deck_id))
    assert asked == ["Bye", "Hi", "Hi"]


def test_a_share_of_calls_whose_answers_have_one_id_is_a_share(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat_ids(monkeypatch)
    deck(compatible)
    set_capture(compatible, samplingRate=0.5)
    for _ in range(40):
        ask(compatible)
    assert 0 < len(handed_over()) < 40  # drawn by id, it would be all or none


def test_a_deck_that_is_named_gets_calls_with_any_prompt(compatible: Compatible) -> None:
    named = deck(compatible, "Quite another prompt.")
    set_capture(compatible)
    ask(compatible, headers={"x-autotune-deck": named})
    capture(handed_over())
    assert len(samples(compatible, named)) == 1


@pytest.mark.parametrize(
    "prompt", ["Answer as ann@example.com.", "You answer {{who}} at help@shop.example."]
)
def test_a_prompt_is_compared_as_it_was_asked_and_kept_as_it_was_redacted(
    compatible: Compatible, prompt: str
) -> None:
    deck_id = deck(compatible, prompt)
    set_capture(compatible, redactions=[r"\S+@\S+\.\w+"])
    asked = prompt.replace("{{who}}", "Bob")
    ask(compatible, messages=[_system(asked), {"role": "user", "content": "Hi"}])
    capture(handed_over())
    (found,) = samples(compatible, deck_id)
    assert "[redacted]" in found["request"]["messages"][0]["content"]
    assert "@" not in json.dumps(found["request"])


@pytest.mark.parametrize(
    ("prompt", "is_usable"),
    [("You answer {{who}} at help@shop.example.", True), ("You are {{who}}@shop.example.", False)],
)
def test_calls_whose_literal_text_is_redacted_can_be_answered_under_another_prompt(
    compatible: Compatible, prompt: str, is_usable: bool
) -> None:
    runs = DeckRuns(compatible.ledger, systemPrompt=prompt, holdoutShare=1)
    deck_id = runs.deck_id
    set_capture(compatible, redactions=[r"\w+@\S+\.\w+"])
    for name in ("Ann", "Bob"):
        asked = _system(prompt.replace("{{who}}", name))
        ask(compatible, messages=[asked, {"role": "user", "content": "Hi"}])
    capture(handed_over())
    found = samples(compatible, deck_id)
    assert ["[redacted]" in json.dumps(one["request"]) for one in found] == [True, True]
    assert all("values" not in one for one in found)
    # Who is answered is part of the input: so each is a group of their own, where that is kept.
    assert len({one["groupKey"] for one in found}) == (2 if is_usable else 1)

    call = compatible.ledger.platform.call
    generator = {
        "connectionId": runs.connection_id,
        "model": MODEL,
        "params": {"maxTokens": 50, "temperature": 0},
    }
    body = {"systemPrompt": f"{prompt} Be brief.", "generator": generator}
    made = call("POST", f"/api/v1/decks/{deck_id}/prompt-edits", body)
    path = f"/api/v1/decks/{deck_id}/prompt-edits/{made.json['edit']['id']}"
    price = call("POST", f"{path}/estimate", {})
    if not is_usable:
        assert price.status == 409
        assert "redactions" in price.json["detail"]
        return
    estimate = price.json["estimate"]
    assert (estimate["samples"], estimate["unusable"]) == (2, 0)
    started = call("POST", f"{path}/generate", {})
    assert started.status == 202, started.text
    run = runs.finish(runs.read(started.json["edit"]["runId"]))
    assert run["counts"]["scored"] == 4
    systems = {
        one["request"]["messages"][0]["content"]
        for one in samples(compatible, deck_id)
        if one["deckVersion"] == 2
    }
    assert systems == {
        f"You answer {who} at help@shop.example. Be brief." for who in ("Ann", "Bob")
    }


def test_a_deck_made_of_a_redacted_prompt_has_the_calls_that_are_redacted_to_it(
    compatible: Compatible,
) -> None:
    deck_id = deck(compatible, "Answer as [redacted].")
    set_capture(compatible, redactions=[r"\w+@\w+\.\w+"])
    for name in ("ann", "bob"):
        mine = _system(f"Answer as {name}@a.example.")
        ask(compatible, messages=[mine, {"role": "user", "content": "Hi"}])
    capture(handed_over())
    assert len(samples(compatible, deck_id)) == 2


def _system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def test_calls_with_the_same_value_of_a_metadata_name_are_one_group(
    compatible: Compatible,
) -> None:
    deck_id = deck(compatible)
    set_capture(
        compatible,
        redactions=[r"\S+@\S+"],
        metadataNames=["customer"],
        groupBy="customer",
    )
    who = ["acme", "acme", "ann@a.example", "ann@a.example", "bob@a.example", "x" * 300, "", None]
    for place, customer in enumerate(who):
        metadata = {} if customer is None else {"metadata": {"customer": customer}}
        ask(compatible, user=f"Question {place}", **metadata)
    capture(handed_over())
    found = {one["request"]["messages"][1]["content"]: one for one in samples(compatible, deck_id)}
    groups = [found[f"Question {place}"]["groupKey"] for place in range(len(who))]
    assert groups[0] == groups[1]
    assert groups[2] == groups[3]
    assert len(set(groups)) == 6
    assert "@" not in json.dumps(list(found.values()))
    given = {"input": "Other", "output": "Yes", "groupKey": "acme"}
    path = f"/api/v1/decks/{deck_id}/samples"
    added = compatible.ledger.platform.call("POST", path, {"samples": [given]}).json["samples"]
    assert added[0]["groupKey"] == groups[0], "as of samples that are given the value"


def test_what_is_redacted_reaches_no_sample(compatible: Compatible) -> None:
    deck_id = deck(compatible)
    compatible.ledger.fake.world.answers.answerer = lambda _: "Write to ann@example.com!"
    set_capture(compatible, redactions=[r"\S+@\S+\.\w+", r"\b\d{4}\b"], metadataNames=["mail"])
    tool = {
        "type": "function",
        "function": {"name": "f", "parameters": {"properties": {"bob@example.com": {}}}},
    }
    ask(
        compatible,
        "I am bob@example.com, pin 1234.",
        metadata={"mail": "bob@example.com"},
        tools=[tool],
    )
    capture(handed_over())
    (found,) = samples(compatible, deck_id)
    assert found["request"]["messages"][1]["content"] == "I am [redacted], pin [redacted]."
    assert found["metadata"] == {"mail": "[redacted]"}
    assert "@example.com" not in json.dumps(found)
    stored = boto3.client("dynamodb").scan(TableName="decks")["Items"]
    assert "example.com" not in str(stored)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"redactions": ["("]}, "redactions[0]"),
        ({"metadataNames": ["a"], "groupBy": "b"}, "groupBy"),
        ({"redactions": ["a", "(?=a)"]}, "redactions[1]"),
        ({"redactions": ["a*"]}, "redactions[0]"),
        ({"redactions": ["((a{1,900}){1,900})"]}, "redactions[0]"),
        ({"redactions": ["a"] * 21}, "redactions"),
        ({"samplingRate": 1.1}, "samplingRate"),
        ({"retentionDays": 0}, "retentionDays"),
        ({"metadataNames": [""]}, "metadataNames[0]"),
        ({"metadataNames": [str(n) for n in range(17)]}, "metadataNames"),
        ({"enabled": "perhaps"}, "enabled"),
        ({"sampling": 1}, "sampling"),
    ],
)
def test_settings_that_cannot_be_kept_are_refused_by_name(
    compatible: Compatible, fields: dict[str, Any], field: str
) -> None:
    refused = set_capture(compatible, **fields)
    assert refused.status == 422, refused.text
    assert field in refused.fields
    shown = compatible.ledger.platform.call("GET", CAPTURE).json["capture"]
    assert shown["updatedAt"] is None


def test_a_share_is_drawn_by_the_calls_id_and_drawn_alike_again(compatible: Compatible) -> None:
    deck_id = deck(compatible)
    set_capture(compatible, samplingRate=0.5)
    for _ in range(40):
        ask(compatible)
    drawn = handed_over()
    assert 8 <= len(drawn) <= 32  # of 40, beyond this in one of ten thousand
    set_capture(compatible, samplingRate=0)
    ask(compatible)
    assert handed_over() == []
    # Who lowers the rate meanwhile has nothing more stored.
    assert capture(drawn) == []
    assert samples(compatible, deck_id) == []


def test_what_is_handed_over_when_it_is_switched_off_is_not_stored(compatible: Compatible) -> None:
    deck_id = deck(compatible)
    set_capture(compatible)
    ask(compatible)
    records = handed_over()
    assert len(records) == 1
    set_capture(compatible, enabled=False)
    assert capture(records) == []
    assert samples(compatible, deck_id) == []


def test_a_call_whose_texts_were_deleted_is_not_captured(compatible: Compatible) -> None:
    deck_id = deck(compatible)
    set_capture(compatible)
    ask(compatible)
    platform = compatible.ledger.platform
    (row,) = platform.call("GET", "/api/v1/llm-requests").json["requests"]
    platform.call("DELETE", f"/api/v1/llm-requests/{row['id']}/content")
    assert capture(handed_over()) == []
    assert samples(compatible, deck_id) == []


@pytest.mark.parametrize(
    ("capture_days", "token_days", "expected"), [(9, None, 9), (None, 3, 3), (9, 3, 3), (2, 30, 2)]
)
def test_a_sample_goes_with_whichever_retention_is_over_first(
    compatible: Compatible,
    monkeypatch: pytest.MonkeyPatch,
    capture_days: int | None,
    token_days: int | None,
    expected: int,
) -> None:
    ends: list[tuple[datetime, datetime]] = []
    take = TelemetryIntake.take

    def note(self: TelemetryIntake, *args: Any, **fields: Any) -> Any:
        ends.append((fields["captured_at"], fields["expires_at"]))
        return take(self, *args, **fields)

    monkeypatch.setattr(TelemetryIntake, "take", note)
    fields = {} if capture_days is None else {"retentionDays": capture_days}
    set_capture(compatible, **fields)
    if token_days is not None:
        compatible.token = compatible.new_token(retentionDays=token_days)["secret"]
    ask(compatible)
    capture(handed_over())
    ((captured, ending),) = ends
    assert timedelta(days=expected) - timedelta(days=1) <= ending - captured
    assert ending - captured <= timedelta(days=expected, minutes=1)


def test_setting_the_same_again_draws_the_same_calls(compatible: Compatible) -> None:
    set_capture(compatible, samplingRate=0.4)
    repository = chat_api.parts().capture_handover._repository
    organization = compatible.ledger.platform.me()["organizationId"]
    before = repository.get(organization)
    with later(timedelta(minutes=1)):
        set_capture(compatible, samplingRate=0.6)
    after = repository.get(organization)
    assert before is not None
    assert after is not None
    assert before.draw_key == after.draw_key
    ids = [str(number) for number in range(200)]
    drawn = {one for one in ids if before.draws(one)}
    assert drawn < {one for one in ids if after.draws(one)}
