"""What becomes of a call and of its sample where the way between them fails."""

from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError

from autotune_platform.decks.telemetry.intake import TelemetryIntake
from autotune_platform.runtime.errors import UnavailableError
from functions.compatible import chat_api
from tests.component.decks.test_capture import (
    CAPTURE,
    NOT_HANDED_OVER,
    ask,
    capture,
    deck,
    handed_over,
    samples,
    set_capture,
)
from tests.support.compatible import Compatible
from tests.support.imports import Imports
from tests.support.ledger import Ledger


@pytest.fixture
def compatible(ledger: Ledger) -> Compatible:
    return Compatible(ledger, Imports(ledger))


def test_a_hand_over_that_fails_is_logged_and_the_call_is_answered(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    set_capture(compatible)
    handover = chat_api.parts().capture_handover
    tried: list[str] = []

    def refuse(**_: Any) -> None:
        tried.append("sent")
        raise ConnectTimeoutError(endpoint_url="https://sqs.test")

    with monkeypatch.context() as down:
        down.setattr(handover._sqs, "send_message", refuse)
        assert ask(compatible)["choices"]
        assert ask(compatible)["choices"]
    # After a failure no call waits for the queue for half a minute.
    assert tried == ["sent"]
    assert caplog.messages.count(NOT_HANDED_OVER) == 2
    monkeypatch.setattr(handover, "_left_alone_until", 0.0)
    ask(compatible)
    assert len(handed_over()) == 1


def test_settings_that_cannot_be_read_keep_no_call_from_its_answer(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    set_capture(compatible)

    def refuse(_: str) -> None:
        raise UnavailableError("busy")

    monkeypatch.setattr(chat_api.parts().capture_handover._repository, "get", refuse)
    assert ask(compatible)["choices"]
    assert NOT_HANDED_OVER in caplog.messages
    assert handed_over() == []


def test_a_capture_that_finds_a_store_busy_comes_again(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck_id = deck(compatible)
    set_capture(compatible)
    ask(compatible)
    ask(compatible)
    records = handed_over()

    def refuse(*_: Any, **__: Any) -> None:
        raise UnavailableError("busy")

    with monkeypatch.context() as busy:
        busy.setattr(TelemetryIntake, "take", refuse)
        assert len(capture(records)) == 2
    assert capture(records) == []
    assert len(samples(compatible, deck_id)) == 2


def test_a_message_of_another_organisations_call_captures_nothing(compatible: Compatible) -> None:
    deck(compatible)
    set_capture(compatible)
    ask(compatible)
    (record,) = handed_over()
    _, row_id = record["body"].split(" ")
    other = compatible.ledger.platform.new_organization("other")
    organization = compatible.ledger.platform.me(other)["organizationId"]
    platform = compatible.ledger.platform
    platform.call("PUT", CAPTURE, {"enabled": True}, api_key=other)
    assert capture([{**record, "body": f"{organization} {row_id}"}]) == []
    found = platform.call("GET", "/api/v1/decks", api_key=other).json["decks"]
    assert found == []
