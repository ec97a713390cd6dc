"""What reads and writes tables is a domain's own: no other domain imports it."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
PLATFORM = ROOT / "layers/platform/python/autotune_platform"
_TABLES = {"autotune_platform.storage.table", "autotune_platform.storage.registry"}
SHARED = {
    # Services over a table of which the steps above are users, not readers of its items.
    "autotune_platform.audit.exporting",
    "autotune_platform.budgets.money",
    "autotune_platform.budgets.uses",
    "autotune_platform.graders.answered_versions",
    "autotune_platform.graders.directory",
    "autotune_platform.graders.service",
    # Records that the steps above share (docs/architecture.md).
    "autotune_platform.completions.open_counts",
    "autotune_platform.judging.human.records",
    "autotune_platform.verdicts.panels",
    "autotune_platform.windows.counters",
    # Between domain and index; only verdicts and wiring import it.
    "autotune_platform.verdicts.latest_scores",
    "autotune_platform.verdicts.newest_first",
    "autotune_platform.verdicts.score_index",
}


def modules_that_hold_a_table() -> set[str]:
    found = set()
    for path in PLATFORM.rglob("*.py"):
        name = ".".join(path.relative_to(PLATFORM.parent).with_suffix("").parts)
        if name.split(".")[1] in {"storage", "wiring"}:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in _TABLES:
                imported = {alias.name for alias in node.names}
                if imported & {"Table", "RegistryTable", "EntityRepository"}:
                    found.add(name)
    return found


def protected() -> set[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return {
        module
        for contract in contracts["contracts"]
        if contract["type"] == "protected"
        for module in contract["protected_modules"]
    }


def test_each_module_that_holds_a_table_is_protected_or_named() -> None:
    holders = modules_that_hold_a_table()
    assert len(holders) > 10
    assert holders - protected() == SHARED & holders
    assert holders >= SHARED
