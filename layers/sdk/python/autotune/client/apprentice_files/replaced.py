"""Keys of other programs' files that have no place here, and what is in theirs."""

from autotune.client.apprentice_files.faults import Path

_PLACES = ("path", "file", "dir", "directory", "folder")

_AUDIT = "the audit log is Autotune's: `autotune audit` shows it, and no file of yours has it"
_BUDGET = "what was spent is counted by Autotune, which no file of yours has: leave this out"
_DATA = "examples and pairs are stored by Autotune, in no file of yours: leave this out"
CUSTOM_GRADER = (
    "code of yours does not run here: register a grader (`autotune graders register`) and give "
    "its id as grader_id"
)
"""What replaces a Python path as an evaluator."""

_CODE = ("callable", "function", "path", "dotted_path", "module", "code", "import", "class")
_BY_NAME = {
    **dict.fromkeys(
        ("api_key", "apikey", "key"),
        "a key never stands in this file: give api_key_env, the variable that has it",
    ),
    **dict.fromkeys(("data", "training_data", "storage", "state"), _DATA),
    **dict.fromkeys(
        ("webhook", "webhook_url", "reporting"), "notices go to webhooks: `autotune webhooks`"
    ),
}


def replaced_by(path: Path) -> str | None:
    """Return what replaces a key that this file has not; None where nothing does."""
    name = str(path[-1]).lower()
    if "evaluator" in path[:-1] and name in _CODE:
        return CUSTOM_GRADER
    return _BY_NAME.get(name) or _of_place(name, path)


def _of_place(name: str, path: Path) -> str | None:
    """Return what replaces the path of a file."""
    parts = name.replace("-", "_").split("_")
    if "audit" in parts:
        return _AUDIT
    if parts[-1] not in _PLACES:
        return None
    if "log" in parts:
        return _AUDIT
    return _BUDGET if {"budget", "spend"} & {*parts} or "budgets" in path[:-1] else _DATA
