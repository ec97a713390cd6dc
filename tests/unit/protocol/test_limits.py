"""Limits are in one namespace: a name of one domain takes none of another's away."""

import ast
from collections import Counter
from pathlib import Path

from autotune.protocol import limits


def test_no_limit_has_the_name_of_another() -> None:
    folder = Path(limits.__file__).parent
    names = Counter(
        node.id
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    assert len(names) > 200
    assert [name for name, count in names.items() if count > 1] == []
    assert names.keys() <= vars(limits).keys()
