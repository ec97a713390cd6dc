"""Formats of verdicts: which fields go together, and what a label may be."""

from typing import Any

import pytest
from pydantic import ValidationError

from autotune.protocol.limits import (
    MAX_ABSTAIN_WORDS,
    MAX_LABEL_CHARACTERS,
    MAX_VERDICT_LABELS,
    MAX_VERDICT_NUMBER,
)
from autotune.protocol.verdict_formats import VerdictFormat, folded


def faults(**fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        VerdictFormat.model_validate(fields)
    return str(caught.value)


def test_a_format_as_it_is_sent() -> None:
    form = VerdictFormat.model_validate(
        {
            "type": "label",
            "labels": ["safe", "Not safe"],
            "map": {"safe": 1, "Not safe": "bad"},
            "conflict": "fail",
            "abstainWords": ["unsure"],
            "onParseFailure": "reask",
        }
    )
    assert form.model_dump(by_alias=True, exclude_none=True) == {
        "type": "label",
        "labels": ["safe", "Not safe"],
        "map": {"safe": 1.0, "Not safe": "bad"},
        "conflict": "fail",
        "abstainWords": ["unsure"],
        "onParseFailure": "reask",
    }
    assert VerdictFormat.model_validate(form.model_dump(mode="json")) == form


def test_what_is_left_out() -> None:
    form = VerdictFormat.model_validate({"type": "text"})
    assert (form.conflict, form.abstain_words) == ("last", [])
    assert form.on_parse_failure == "keep"
    ranged = VerdictFormat.model_validate({"type": "number", "minimum": 0, "maximum": 10})
    assert (ranged.minimum, ranged.maximum) == (0, 10)


AB = ["a", "b"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"type": "label"}, "labels: must be given where type is label"),
        ({"type": "labels"}, "labels: must be given where type is labels"),
        ({"type": "number", "labels": AB}, "labels: only where type is label or labels"),
        ({"type": "text", "map": {"a": 1}}, "map: only where type is label or labels"),
        ({"type": "label", "labels": AB, "minimum": 1}, "minimum: only where type is number"),
        ({"type": "text", "maximum": 1}, "maximum: only where type is number"),
        ({"type": "number", "minimum": 2, "maximum": 2}, "minimum: must be below maximum"),
        ({"type": "label", "labels": ["Yes", "yes"]}, "labels: each must differ"),
        ({"type": "label", "labels": ["straße", "STRASSE"]}, "labels: each must differ"),
        ({"type": "label", "labels": ["caf\u00e9", "cafe\u0301"]}, "labels: each must differ"),
        ({"type": "label", "labels": ["a", "abstain"]}, "labels: none may be ABSTAIN"),
        (
            {"type": "label", "labels": AB, "abstainWords": ["B"]},
            "labels: none may be ABSTAIN or one of abstainWords",
        ),
        ({"type": "labels", "labels": ["a, b"]}, "labels: none may have"),
        ({"type": "labels", "labels": ["[a]"]}, "labels: none may have"),
        ({"type": "label", "labels": AB, "map": {"a": 1, "c": 2}}, "map: every name must be one"),
        ({"type": "label", "labels": AB, "map": {"a": 1}}, "map: every one of labels"),
        (
            {"type": "label", "labels": AB, "map": {"a": 1, "b": "ABSTAIN"}},
            "map: no value may be ABSTAIN",
        ),
        ({"type": "text", "abstainWords": ["abstain"]}, "abstainWords: each other than ABSTAIN"),
        ({"type": "text", "abstainWords": ["no", "NO"]}, "abstainWords: each other than ABSTAIN"),
    ],
)
def test_fields_that_do_not_go_together_are_named(fields: dict[str, Any], message: str) -> None:
    assert message in faults(**fields)


@pytest.mark.parametrize(
    "label", ["", " a", "a ", "**a**", "`a", "a_", "a\nb", "a\u2028b", "a\u200bb", "\ud800", "\t"]
)
def test_labels_that_no_verdict_could_be(label: str) -> None:
    faults(type="label", labels=[label])


@pytest.mark.parametrize("label", ["C++", "a_b", "n/a", "A.", "-1", "不安全", "😀", "a: b", "#1"])
def test_labels_that_a_verdict_can_be(label: str) -> None:
    assert VerdictFormat.model_validate({"type": "label", "labels": [label]}).labels == [label]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "label", "labels": []},
        {"type": "label", "labels": [f"l{place}" for place in range(MAX_VERDICT_LABELS + 1)]},
        {"type": "label", "labels": ["a" * (MAX_LABEL_CHARACTERS + 1)]},
        {"type": "text", "abstainWords": [f"w{place}" for place in range(MAX_ABSTAIN_WORDS + 1)]},
        {"type": "label", "labels": AB, "map": {"a": float("nan"), "b": 1}},
        {"type": "label", "labels": AB, "map": {"a": True, "b": 1}},
        {"type": "label", "labels": AB, "map": {"a": [], "b": 1}},
        {"type": "label", "labels": AB, "map": {"a": "", "b": 1}},
        {"type": "number", "minimum": float("-inf")},
        {"type": "number", "maximum": "10"},
        {"type": "number", "maximum": MAX_VERDICT_NUMBER * 2},
        {"type": "json"},
        {"type": "text", "conflict": "first"},
        {"type": "text", "onParseFailure": "retry"},
        {"type": "text", "unknown": 1},
        {},
    ],
)
def test_what_is_out_of_bounds(fields: dict[str, Any]) -> None:
    faults(**fields)


def test_folding_is_idempotent_and_ignores_case_and_blanks() -> None:
    assert folded("  Not\t SAFE ") == "not safe"
    for text in ("İ", "ß", "\u0345\u0301", "ǰ̣", "Å"):
        assert folded(folded(text)) == folded(text)
