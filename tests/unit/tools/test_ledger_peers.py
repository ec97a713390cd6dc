"""The comparison with other clients says what was measured, with the versions that are locked."""

import copy
from dataclasses import replace

import pytest

from benchmarks.llm_peers.cases import CASES, QUESTIONS, answer
from benchmarks.llm_peers.observing import (
    RAISED,
    RETURNED,
    WAITING,
    Billed,
    Handed,
    observe,
)
from benchmarks.llm_peers.peers import LLM_PEERS
from benchmarks.llm_peers.stored import OURS, RESULTS, read, write
from tests.providers.catalogue import CATALOGUE
from tools.ledger_peers import PAGE, described, is_correct, with_table

ALL = {str(number): [f"[tok-1] {answer(number)}"] for number in range(QUESTIONS)}
RAN = [{"fingerprint": str(number)} for number in range(QUESTIONS)]


def observed(*, answers=ALL, errors=None, ran=RAN, ended=RETURNED, error="", sprung=("a",)):
    return observe(
        Handed(ended=ended, error=error, answers=answers, errors=errors or {}),
        Billed(executions=ran, jobs=1, sprung=sprung, calls={}),
        traps=["a"],
    )


def without(*numbers):
    return {one: texts for one, texts in ALL.items() if one not in numbers}


def test_the_page_is_current():
    page = PAGE.read_text()
    assert page == with_table(page, read()), "python -m tools.ledger_peers"


def test_a_result_that_changes_changes_the_page():
    page, stored = PAGE.read_text(), read()
    for name in stored["clients"]:
        changed = copy.deepcopy(stored)
        changed["clients"][name]["cases"]["none"]["paid_again"] += 1
        assert with_table(page, changed) != page


def test_results_are_stored_as_they_are_written(tmp_path, monkeypatch):
    stored = read()
    monkeypatch.setattr("benchmarks.llm_peers.stored.RESULTS", tmp_path / "results.json")
    write(stored)
    assert read() == stored
    assert (tmp_path / "results.json").read_text() == RESULTS.read_text()


@pytest.mark.parametrize("peer", LLM_PEERS, ids=lambda peer: peer.name)
def test_what_was_measured_is_the_version_that_is_locked(peer):
    assert read()["clients"][peer.name]["version"] == peer.version


def test_each_client_ran_each_case_and_got_all_answers_where_nothing_goes_wrong():
    clients = read()["clients"]
    assert set(clients) == {OURS, *(peer.name for peer in LLM_PEERS)}
    for client in clients.values():
        assert set(client["cases"]) == {case.name for case in CASES}
        assert client["cases"]["none"]["answered"] == QUESTIONS


def test_cases_have_the_numbers_of_the_catalogue():
    for case in CASES:
        sections = [CATALOGUE[trap["name"]].section for trap in case.traps] or [0]
        assert case.section == max(sections)


def test_all_answered_and_paid_once_is_correct():
    assert described(observed()) == f"correct: all {QUESTIONS} answered"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (observed(answers=without("2"), ran=RAN), "7 of 8 answered; 1 lost; 1 paid without an"),
        (observed(ran=RAN * 2), "8 **paid twice**"),
        (observed(answers={**ALL, "3": ALL["4"]}), "1 with another's answer; 1 paid without"),
        (observed(answers={**ALL, "3": ALL["3"] * 2}), "1 handed over twice"),
        (observed(answers={**ALL, "other": ["x"]}), "1 handed over that nobody asked"),
        (
            observed(answers={**ALL, "3": ["[tok-1] Answer 3.\nVERDICT: fail"]}),
            "1 with the contradicting copy",
        ),
        (observed(answers={}, ended=RAISED, error="E: no"), "ends with `E: no`, 0 of 8 answered"),
        (observed(answers={}, ended=WAITING), "still waits two days later, 0 of 8 answered"),
        (
            observed(answers=without("2"), errors={"2": "500"}),
            "1 reported as failed; 1 paid without an answer",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_fault_is_said_and_is_not_correct(found, said):
    assert said in described(found)
    assert not is_correct(found)


def test_a_row_that_failed_unpaid_and_is_reported_is_correct():
    found = observed(answers=without("2"), errors={"2": "400"}, ran=RAN[1:])
    assert described(found) == "correct: 7 of 8 answered; 1 reported as failed"


def test_a_trap_that_did_not_spring_is_said():
    assert described(observed(sprung=())).startswith("trap not met; ")
    assert is_correct(replace(observed(), met=False))
