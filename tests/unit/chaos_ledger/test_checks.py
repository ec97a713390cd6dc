"""The checks of chaos of the ledger, each on something bad that it has to find."""

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from tests.chaos_ledger.answers import LABELS, answer_of, verdict_in, verdict_of
from tests.chaos_ledger.calls import by_half
from tests.chaos_ledger.invariants import MOST_STEPS_AN_HOUR, Closing, search
from tests.chaos_ledger.watch import Watch

KEY = "sk-chaos-0123456789abcdef01234567"


@pytest.fixture
def watch() -> Watch:
    storm: Any = SimpleNamespace(now=5.0, every=lambda *_: None)
    return Watch(storm, SimpleNamespace())  # type: ignore[arg-type]


def row(status: str, **more: Any) -> dict[str, Any]:
    return {"sk": "state", "status": status, "attempt": 1, **more}


@pytest.mark.parametrize("shift", range(3))
def test_a_key_is_found_as_it_is_and_in_base64_wherever_it_begins(shift: int) -> None:
    coded = base64.b64encode(b"." * shift + KEY.encode() + b" and more")
    places = [("plain", KEY.encode()), ("coded", coded), ("neither", b"sk-chaos-0123")]
    assert search([KEY], places) == ["plain", "coded"]


def test_a_row_that_ends_twice_or_changes_after_its_end_is_seen(watch: Watch) -> None:
    watch._note("llm_a", row("submitted"), row("completed", cost_nano_usd=5))
    assert dict(watch.violations) == {}
    watch._note("llm_a", row("completed", cost_nano_usd=5), row("completed", cost_nano_usd=6))
    assert list(watch.violations) == ["each row ends once"]
    assert watch.ends == {"llm_a": 1}


def test_a_second_creation_while_one_is_under_way_is_seen(watch: Watch) -> None:
    def batch(phase: str, begun_at: str | None) -> dict[str, Any]:
        job = {} if begun_at is None else {"begun_at": begun_at}
        more = {"connection_id": "c", "provider": "openai", "phase": phase, "job": job}
        return {"sk": "state", **more}

    watch._note("lbt_a", {}, batch("creating", "t"))
    watch._note("lbt_a", {}, batch("polling", "t"))
    watch._note("lbt_b", {}, batch("creating", "t"))
    assert dict(watch.violations) == {}
    watch._note("lbt_c", {}, batch("creating", "t"))
    assert list(watch.violations) == ["one creation of a connection at a time"]


def test_the_fake_gives_every_kind_of_answer_and_its_verdict_is_read_apart_from_ours() -> None:
    names = [f"<1.{number}>" for number in range(100)]
    assert {verdict_of(name) for name in names} == {*LABELS, None}
    for name in names:
        assert verdict_in(answer_of(f"Is {name} sound?") or "") == verdict_of(name)


def test_what_a_table_leaves_undone_can_be_sent_again_as_it_is() -> None:
    request = {"PutRequest": {"Item": {"body": {"B": base64.b64encode(b"p{}").decode()}}}}
    answer = by_half("BatchWriteItem", {"RequestItems": {"ledger": [request]}})
    (left,) = (answer or {})["UnprocessedItems"]["ledger"]
    assert left["PutRequest"]["Item"] == {"body": {"B": b"p{}"}}
    keys = {"ledger": {"Keys": [{"pk": {"S": "a"}}]}}
    assert by_half("BatchGetItem", {"RequestItems": keys}) == {
        "Responses": {},
        "UnprocessedKeys": keys,
    }
    assert by_half("PutItem", {}) is None


def test_an_execution_that_goes_round_in_a_loop_is_seen(watch: Watch) -> None:
    most = MOST_STEPS_AN_HOUR
    storm: Any = SimpleNamespace(steps={("lbt_a", 1): most, ("lbt_b", 2): most + 1})
    closing = Closing.__new__(Closing)
    closing._storm, closing._watch = storm, watch
    closing._steps()
    (found,) = watch.violations["no batch takes hundreds of steps an hour"]
    assert "lbt_b within hour 2" in found
