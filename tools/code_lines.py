"""Count the lines of code of platform and SDK: without docstrings, comments and blanks.

``python -m tools.code_lines`` prints them by domain and in all, and files of more than 300 lines; a
folder behind it is another checkout to count, such as one of an earlier commit.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "platform": "layers/platform/python/autotune_platform",
    "SDK": "layers/sdk/python/autotune",
}
MOST_LINES = 300
"""A file with more of them, of whatever kind, is to be cut."""

_NO_CODE = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


@dataclass(frozen=True)
class Count:
    """What was counted of a package.

    Attributes:
        by_domain: lines of code of each of its folders, and of what lies beside them as ``.``.
        long_files: all lines of each file that has more than ``MOST_LINES``, by its path in it.
    """

    by_domain: Mapping[str, int]
    long_files: Mapping[Path, int]

    @property
    def total(self) -> int:
        """Lines of code of the whole package."""
        return sum(self.by_domain.values())


def code_lines(source: str) -> int:
    """Return how many lines of a module have code; a text that stands alone has none."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
                lines.difference_update(range(first, last + 1))
    return len(lines)


def count(package: Path) -> Count:
    """Count a package's modules."""
    by_domain: Counter[str] = Counter()
    long_files: dict[Path, int] = {}
    for path in sorted(package.rglob("*.py")):
        source = path.read_text("utf-8")
        inside = path.relative_to(package).parts
        by_domain[inside[0] if len(inside) > 1 else "."] += code_lines(source)
        if (lines := len(source.splitlines())) > MOST_LINES:
            long_files[path.relative_to(package)] = lines
    return Count(by_domain, long_files)


def count_all(checkout: Path) -> dict[str, Count]:
    """Count both packages of a checkout."""
    return {name: count(checkout / folder) for name, folder in PACKAGES.items()}


def table(counts: Mapping[str, Count]) -> str:
    """Return what was counted as text."""
    lines: list[str] = []
    for name, counted in counts.items():
        lines += [f"{name:<24}{counted.total:>7,}"]
        lines += [f"  {domain:<22}{code:>7,}" for domain, code in sorted(counted.by_domain.items())]
    lines += [f"{'all':<24}{sum(counted.total for counted in counts.values()):>7,}", ""]
    long_files = {path: all_ for one in counts.values() for path, all_ in one.long_files.items()}
    lines += [f"Files of more than {MOST_LINES} lines: {len(long_files) or 'none'}"]
    lines += [f"  {path}: {all_}" for path, all_ in long_files.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print what is counted; return the exit code."""
    checkout = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    sys.stdout.write(table(count_all(checkout)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
