"""The page of ceilings follows from the code, and hides none."""

import re

from tools import scaling, scaling_apprentice, scaling_decks, scaling_ledger
from tools.scaling import PAGE, ROOT, ceilings, with_table
from tools.scaling_apprentice import apprentice_ceilings, with_apprentice_table
from tools.scaling_decks import deck_ceilings, with_deck_table
from tools.scaling_ledger import ledger_ceilings, with_ledger_table

TARGET = 5_000
"""Completions a second in batches of a hundred that each component is to bear."""


def test_the_page_is_current() -> None:
    page = PAGE.read_text()
    assert page == with_table(page), "python -m tools.scaling"


def test_what_is_under_the_target_says_why() -> None:
    _, _, reasons = PAGE.read_text().partition("<!-- end -->")
    explained = set(re.findall(r"^- \*\*(.+?)\*\*", reasons, flags=re.MULTILINE))
    assert explained == {one.component for one in ceilings() if one.batches < TARGET}


def test_each_figure_names_a_file_that_is_there() -> None:
    assert [one.where for one in ceilings() if not (ROOT / one.where).is_file()] == []


def test_what_is_counted_bounded_or_erased_for_all_has_a_ceiling() -> None:
    named = {one.component: one for one in ceilings()}
    assert {
        "Callbacks",
        "Count of open completions",
        "Deletion of an organisation",
        "Erasure of what expires",
        "Functions of the API",
        "Requests of an organisation",
    } <= set(named)
    # What is reserved is not the API's.
    assert named["Functions of the API"].singles < named["API"].singles


def test_a_shard_count_that_changes_changes_the_page(monkeypatch) -> None:
    page = PAGE.read_text()
    monkeypatch.setattr(scaling, "OPEN_SHARDS", 1)
    assert with_table(page) != page


def test_the_page_has_what_the_ledger_bears() -> None:
    page = PAGE.read_text()
    assert page == with_ledger_table(page), "python -m tools.scaling_ledger"
    assert [one.where for one in ledger_ceilings() if not (ROOT / one.where).is_file()] == []
    figures = {one.component: one.figure for one in ledger_ceilings()}
    assert figures["Queue"] == figures["List of requests by status"] == 2_000
    assert figures["Index of what is due"] == 2_000
    assert figures["Count of open requests"] == 500
    assert figures["Single calls"] > 3 * figures["Single calls of an organisation"]


def test_functions_for_models_that_change_change_the_page(monkeypatch) -> None:
    page = PAGE.read_text()
    monkeypatch.setattr(scaling_ledger, "MODEL_FUNCTIONS", 80)
    assert with_ledger_table(page) != page


def test_the_page_has_what_decks_bear(monkeypatch) -> None:
    page = PAGE.read_text()
    assert page == with_deck_table(page), "python -m tools.scaling_decks"
    assert [one.where for one in deck_ceilings() if not (ROOT / one.where).is_file()] == []
    monkeypatch.setattr(scaling_decks, "AT_A_TIME", 1)
    assert with_deck_table(page) != page


def test_the_page_has_what_the_apprentice_bears(monkeypatch) -> None:
    page = PAGE.read_text()
    assert page == with_apprentice_table(page), "python -m tools.scaling_apprentice"
    assert [one.where for one in apprentice_ceilings() if not (ROOT / one.where).is_file()] == []
    named = {one.component for one in apprentice_ceilings()}
    assert {
        "Runs that are waited for",
        "Pairs of a version",
        "Counts of runs, and evidence",
    } <= named
    monkeypatch.setattr(scaling_apprentice, "MOST_WRITES", 40)
    assert with_apprentice_table(page) != page


def test_as_much_is_erased_as_is_captured() -> None:
    captured = {one.component: one.figure for one in ledger_ceilings()}["Captured calls"]
    erased = {one.component: one.figure for one in deck_ceilings()}["Erasure of captured samples"]
    assert erased >= captured
