from pathlib import Path

import pytest

from tools.code_lines import ROOT, code_lines, count, count_all, table

MODULE = '''"""What it is.

Over several lines.
"""

import os  # a comment beside code

LIMIT = 3
"""What a constant is, as a text below it."""


# A comment alone.
class Thing:
    """What a thing is."""

    name: str = """a text
that is a value"""

    def act(
        self,
    ) -> None:
        """Do it."""
        os.getcwd()
'''


def test_docstrings_comments_and_blanks_are_no_code() -> None:
    # import, LIMIT, class, two of the value, three of the signature, the call
    assert code_lines(MODULE) == 9


@pytest.mark.parametrize("source", ["", '"""Only a docstring."""\n', "# Only a comment.\n\n"])
def test_what_has_no_code_counts_nothing(source: str) -> None:
    assert code_lines(source) == 0


def test_a_package_is_counted_by_domain(tmp_path: Path) -> None:
    for path, lines in {"__init__.py": 1, "a/one.py": 2, "a/b/two.py": 3, "c/long.py": 301}.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n" * lines)
    counted = count(tmp_path)
    assert counted.by_domain == {".": 1, "a": 5, "c": 301}
    assert counted.total == 307
    assert counted.long_files == {Path("c/long.py"): 301}


def test_the_table_names_packages_and_their_sum() -> None:
    counts = count_all(ROOT)
    text = table(counts)
    assert all(counted.total > 1_000 for counted in counts.values())
    assert f"{sum(one.total for one in counts.values()):,}" in text
    assert "  verdicts" in text
