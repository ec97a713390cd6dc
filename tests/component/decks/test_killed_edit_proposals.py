"""Answers about edits that kill each function which reads them: they count as none."""

from collections.abc import Iterator
from typing import Any

import pytest

from autotune_platform.decks.fixing.asking import EditAsking
from autotune_platform.decks.fixing.proposals import MOST_KILLERS, Proposal, ProposalRepository
from autotune_platform.decks.fixing.reading import KILLED
from autotune_platform.decks.runs.models import LOST_STEPS, MOST_KILLS
from autotune_platform.ledger.ordering import RowOrders
from autotune_platform.runtime.errors import UnavailableError
from functions.decks import edits_api
from tests.component.decks.test_edit_proposals import CAP, ProposingDeck
from tests.support.ledger import Ledger

KILLS = (SystemExit, MemoryError)


@pytest.fixture
def deck(ledger: Ledger) -> ProposingDeck:
    made = ProposingDeck(ledger, number=24)
    made.model.proposer.edits = ["good"]
    return made


class Readings:
    """Which answers were read, and what happens where some of them are."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.poison: set[str] = set()
        self.does: Any = SystemExit(1)
        self.read: list[str] = []
        look = RowOrders.look

        def looking(orders: RowOrders, ids: Any, *, with_texts: bool = True) -> Any:
            rows = list(ids)
            if with_texts:
                self.read += rows
                if not self.poison.isdisjoint(rows):
                    self.happen()
            return look(orders, rows, with_texts=with_texts)

        monkeypatch.setattr(RowOrders, "look", looking)

    def happen(self) -> None:
        if isinstance(self.does, BaseException):
            raise self.does
        self.does()


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    return Readings(monkeypatch)


def stored(deck: ProposingDeck) -> Proposal:
    found = ProposalRepository(edits_api.parts().decks_table).get(deck.deck_id, deck.grader_id)
    assert found is not None
    return found


def states(deck: ProposingDeck, killed: list[int], *, steps: int = 60) -> Iterator[dict[str, Any]]:
    """Do the steps of a proposal's execution until it ends, whatever kills them."""
    (state,) = [one for one in deck.started() if "proposal" in one]
    for _ in range(steps):
        try:
            state = deck.step_edits(state)
        except (*KILLS, UnavailableError):
            # The state machine tries the step again a little later.
            killed[0] += 1
            deck.ledger.passed += 5
            continue
        if state["done"]:
            return
        yield state
        deck.ask_models(seconds=max(61, state["wait_seconds"]))
    raise AssertionError(f"it does not end: {stored(deck)}")


def until(deck: ProposingDeck, status: str) -> Proposal:
    """Go on until all that is asked at a stage has ended, and nobody has read it."""
    for _ in states(deck, [0]):
        if stored(deck).status == status:
            deck.ask_models()
            return stored(deck)
    raise AssertionError(f"it was never {status}")


def finish(deck: ProposingDeck) -> tuple[dict[str, Any], int]:
    """Go on until it ends; return it, and how many steps were killed."""
    killed = [0]
    for _ in states(deck, killed):
        pass
    ended = deck.look()
    rows = [one for one in deck.rows() if one["purpose"] == "rubric_edit"]
    assert sum(one["costNanoUsd"] or 0 for one in rows) == ended["costNanoUsd"]
    edits = deck.platform.call("GET", f"{deck.grader_path}/edits").json["edits"]
    assert sorted(one["id"] for one in edits) == sorted(ended["editIds"])
    last = stored(deck)
    assert (last.reader, last.at_hand, last.suspects) == (None, None, {})
    return ended, killed[0]


def test_a_patch_that_kills_its_readers_is_refused_and_all_others_become_edits(
    ledger: Ledger, readings: Readings
) -> None:
    deck = ProposingDeck(ledger)
    deck.model.proposer.edits = ["good"]
    assert deck.begin(capNanoUsd=CAP).status == 202
    rows = [one.row_id for one in until(deck, "patching").questions]
    assert len(rows) > 1
    readings.poison, readings.does = {rows[1]}, MemoryError()
    found, killed = finish(deck)
    assert killed == LOST_STEPS + MOST_KILLS
    assert (found["status"], found["unread"]) == ("completed", 1)
    assert len(found["editIds"]) == len(rows) - 1
    assert found["refused"] == [{"pattern": found["patterns"][1]["name"], "because": KILLED}]


def test_a_name_that_kills_its_readers_is_none(deck: ProposingDeck, readings: Readings) -> None:
    assert deck.begin(samples=5).status == 202
    asked = until(deck, "coding").questions
    readings.poison = {asked[0].row_id}
    found, killed = finish(deck)
    assert killed == LOST_STEPS + MOST_KILLS
    assert (found["status"], found["unread"], found["refused"]) == ("completed", 1, [])
    assert set(stored(deck).codes) == {one.about for one in asked[1:]}
    assert found["editIds"]


@pytest.mark.parametrize("stage", ["coding", "merging", "patching"])
def test_where_nothing_can_be_read_a_proposal_says_so(
    deck: ProposingDeck, readings: Readings, stage: str
) -> None:
    assert deck.begin(capNanoUsd=CAP).status == 202
    rows = [one.row_id for one in until(deck, stage).questions]
    readings.poison = set(rows)
    found, killed = finish(deck)
    lost = min(len(rows), MOST_KILLERS)
    assert killed == LOST_STEPS + MOST_KILLS * lost
    assert (found["editIds"], found["unread"]) == ([], lost)
    if stage == "patching" and len(rows) < MOST_KILLERS:
        assert (found["status"], len(found["refused"])) == ("completed", len(rows))
    else:
        assert (found["status"], found["failedBecause"]) == ("failed", "step_killed")


def test_samples_that_kill_who_asks_about_them_end_a_proposal(
    deck: ProposingDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deck.begin(samples=5).status == 202
    until(deck, "merging")

    def die(*_: Any) -> None:
        raise SystemExit(1)

    monkeypatch.setattr(EditAsking, "texts", die)
    found, killed = finish(deck)
    assert killed == LOST_STEPS + MOST_KILLS
    assert (found["status"], found["failedBecause"]) == ("failed", "step_killed")


def test_an_outage_at_the_same_place_loses_no_answer(
    deck: ProposingDeck, readings: Readings
) -> None:
    assert deck.begin(capNanoUsd=CAP).status == 202
    rows = [one.row_id for one in until(deck, "patching").questions]
    readings.poison = set(rows)
    refused = [0]

    def refuse_at_first() -> None:
        refused[0] += 1
        if refused[0] <= 10:
            raise UnavailableError("busy", retry_after_seconds=1)

    readings.does = refuse_at_first
    found, killed = finish(deck)
    assert killed == 10
    assert (found["status"], found["unread"], found["refused"]) == ("completed", 0, [])
    assert len(found["editIds"]) == len(rows)


def test_an_outage_of_careful_readers_loses_no_answer(
    deck: ProposingDeck, readings: Readings
) -> None:
    assert deck.begin(capNanoUsd=CAP).status == 202
    rows = [one.row_id for one in until(deck, "patching").questions]
    readings.poison = set(rows)
    happened = [0]

    def die_then_refuse() -> None:
        happened[0] += 1
        if happened[0] <= LOST_STEPS:
            raise SystemExit(1)
        if happened[0] <= 12:
            raise UnavailableError("busy", retry_after_seconds=1)

    readings.does = die_then_refuse
    found, killed = finish(deck)
    assert killed == 12
    assert (found["status"], found["unread"], found["refused"]) == ("completed", 0, [])
    assert len(found["editIds"]) == len(rows)


def test_several_readers_at_once_are_no_kills(deck: ProposingDeck, readings: Readings) -> None:
    assert deck.begin(capNanoUsd=CAP).status == 202
    rows = [one.row_id for one in until(deck, "patching").questions]
    readings.poison = set(rows)
    seen: list[str] = []

    def look_too() -> None:
        for _ in range(LOST_STEPS + MOST_KILLS):
            deck.look_at_once()
            seen.append(stored(deck).status)

    readings.does = look_too
    found, killed = finish(deck)
    assert (killed, seen) == (0, ["patching"] * (LOST_STEPS + MOST_KILLS)), "it is left to one"
    assert (found["status"], found["unread"], found["refused"]) == ("completed", 0, [])
    assert sorted(readings.read[-len(rows) :]) == sorted(rows)


def test_a_cancel_reads_no_answer_at_which_a_reader_was_killed(
    deck: ProposingDeck, readings: Readings
) -> None:
    assert deck.begin(capNanoUsd=CAP).status == 202
    rows = [one.row_id for one in until(deck, "patching").questions]
    readings.poison = {rows[0]}
    with pytest.raises(SystemExit):
        deck.look_later()
    assert deck.send("/proposals/cancel", None).json["proposal"]["status"] == "patching"
    readings.read.clear()
    found, killed = finish(deck)
    assert (found["status"], found["editIds"], killed) == ("canceled", [], 0)
    assert readings.read == []


def test_who_goes_on_with_a_proposal_notes_it_once_a_stage(
    deck: ProposingDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, writes = ProposalRepository.store, [0]

    def counting(self: ProposalRepository, *args: Any) -> bool:
        writes[0] += 1
        return store(self, *args)

    monkeypatch.setattr(ProposalRepository, "store", counting)
    assert deck.begin(samples=5).status == 202
    assert finish(deck)[0]["status"] == "completed"
    # It is begun, each of three stages is enqueued and read, and four notes say by whom.
    assert writes[0] == 1 + 3 + 3 + 4
