"""The page of ceilings follows from the code, and hides none."""

import re

from tools import scaling
from tools.scaling import PAGE, ROOT, ceilings, with_table

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
