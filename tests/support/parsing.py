"""What an answer is read as, for tests of parsing."""

from typing import Any

from autotune.protocol.verdict_formats import VerdictFormat
from autotune_platform.ledger.parsing import Parsed, parse


def form(type_: str = "label", **fields: Any) -> VerdictFormat:
    if type_ in ("label", "labels"):
        fields = {"labels": ["A", "B", "Not safe"], **fields}
    return VerdictFormat.model_validate({"type": type_, **fields})


def verdict(raw: str, type_: str = "label", **fields: Any) -> Any:
    parsed = parse(raw, form(type_, **fields))
    assert parsed.error is None, parsed.error
    return parsed.parsed_verdict


def code(raw: str, type_: str = "label", **fields: Any) -> str:
    parsed = parse(raw, form(type_, **fields))
    assert parsed.error is not None
    assert is_failure(parsed)
    return parsed.error.code


def is_failure(parsed: Parsed) -> bool:
    return (parsed.reasoning, parsed.verdict_text, parsed.parsed_verdict) == (None, None, None)
