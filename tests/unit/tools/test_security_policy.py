"""What SECURITY.md says is defended has tests, and they are there."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def named_tests() -> list[tuple[str, str]]:
    text = (REPOSITORY / "SECURITY.md").read_text()
    return re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)


def test_each_test_that_the_policy_names_is_there() -> None:
    missing = [
        (path, name)
        for path, name in named_tests()
        if not (REPOSITORY / path).is_file()
        or (name and f"def {name}(" not in (REPOSITORY / path).read_text())
    ]
    assert missing == []


def test_each_threat_names_a_test() -> None:
    text = (REPOSITORY / "SECURITY.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    assert [row for row in rows if "`tests/" not in row.rpartition(" | ")[2]] == []
