"""Parses of the served ledger: what stands behind the last ``VERDICT:`` of an answer, as text."""

import re
from datetime import UTC, datetime
from typing import Any

from autotune.protocol import llm_parses


def parses_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row's parses, the first one first; of one that asked for a verdict there is one at once."""
    made: list[dict[str, Any]] = row.setdefault("parses", [])
    if not made and row.get("verdict") is not None:
        made.append(_parse(row, 1, row["verdict"], None))
    return made


def parse_again(row: dict[str, Any], body: bytes) -> dict[str, Any] | None:
    """Parse a row as its latest parse, unless that is alike; None where no format is known."""
    asked = llm_parses.ParseLlmRequest.model_validate_json(body)
    form = asked.verdict.model_dump(mode="json", by_alias=True) if asked.verdict else None
    wanted = form or row.get("verdict")
    if wanted is None:
        return None
    made = parses_of(row)
    if not made or made[-1]["verdict"] != _normal(wanted):
        made.append(_parse(row, len(made) + 1, wanted, "key_" + "0" * 26))
    row["parseVersion"] = made[-1]["version"]
    return made[-1]


def _parse(row: dict[str, Any], version: int, form: Any, by: str | None) -> dict[str, Any]:
    found = re.findall(r"VERDICT: (.*)", row.get("rawOutput", ""))
    error = {"code": "verdict_missing", "message": "no line begins with VERDICT:"}
    made = llm_parses.LlmParse.model_validate(
        {
            "version": version,
            "parserVersion": 1,
            "verdict": form,
            "parsedAt": datetime.now(UTC).isoformat(),
            "parsedBy": by,
            **({"verdictText": found[-1], "parsedVerdict": found[-1]} if found else {}),
            **({} if found else {"parseError": error}),
        }
    )
    return {**made.model_dump(mode="json", by_alias=True), "verdict": _normal(form)}


def _normal(form: Any) -> Any:
    return llm_parses.VerdictFormat.model_validate(form).model_dump(mode="json", by_alias=True)
