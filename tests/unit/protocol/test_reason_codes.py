"""Each reason code has one entry in its page: what it means, whose it is, what to do."""

import re
from pathlib import Path
from typing import get_args

from autotune.protocol.completions import ReasonCode

PAGE = Path(__file__).parents[3] / "docs" / "reason-codes.md"


def test_the_page_has_each_code_once_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE.read_text("utf-8"), re.M)
    assert sorted(code for code, _ in rows) == sorted(get_args(ReasonCode))
    for code, row in rows:
        cells = [cell.strip() for cell in row.split("|")]
        assert len(cells) == 3, code
        assert all(cells), code
