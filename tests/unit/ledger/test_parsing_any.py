"""Any answer is read as fields or an error, in linear time, as another reader does."""

import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autotune.protocol.verdict_formats import ABSTAIN, SEPARATORS, VerdictFormat
from autotune_platform.ledger import parsing
from autotune_platform.ledger.parsing import parse
from tests.support.parsing import form, is_failure, verdict

HOSTILE = [
    *("VERDICT:", "VERDICT:\n", "VERDICT: A\n", "VERDICT: a\nVERDICT: A\n", "\nVERDICT: 1e9"),
    *("verdict ", "verdict\r\n", "VERDICT", "VERDICT*", "VERDICT \n", "VERDICT: A,\n", "**VERDICT"),
    *("VERDICT: **\n", "1)1)VERDICT:", "\n", "\r", "\u2028", "\ud800", "İ", "a", " ", ":", "*\n"),
    *("*", "_", "`", "#", "> ", "- ", "1. ", "1.1.", "1", "[", "A,"),
]


pieces = st.sampled_from(
    [
        *(
            "VERDICT",
            "verdict",
            ":",
            "\uff1a",
            "VERDICT: A\n",
            "\nVERDICT: B",
            "A",
            "b",
            "Not safe",
        ),
        *(" ", "\n", "\r", "\r\n", "\u2028", "*", "_", "`", "#", "> ", "- ", "1.", "```", "\ufeff"),
        *("7/10", "1e9", "NaN", "ABSTAIN", ",", "[", "]", ".", "é", "x", "İ", "\ud800"),
    ]
)
answers = st.lists(pieces, max_size=40).map("".join) | st.text(max_size=200)
formats = st.builds(
    form,
    st.sampled_from(["label", "labels", "number", "text"]),
    conflict=st.sampled_from(["last", "fail"]),
)


@given(answers, formats)
def test_an_answer_has_three_fields_or_an_error(raw: str, format_: VerdictFormat) -> None:
    parsed = parse(raw, format_)
    fields = (parsed.reasoning, parsed.verdict_text, parsed.parsed_verdict)
    assert (parsed.error is None) == all(field is not None for field in fields)
    assert (parsed.error is not None) == is_failure(parsed)
    assert parsed == parse(raw, format_)
    found = parsed.parsed_verdict
    if parsed.error is not None or parsed.abstained:
        assert parsed.error or found == ABSTAIN
    elif format_.type == "label":
        assert found in (format_.labels or ())
    elif format_.type == "labels":
        assert isinstance(found, list)
        assert found
        assert set(found) <= set(format_.labels or ())
    elif format_.type == "number":
        assert isinstance(found, int | float)
        assert math.isfinite(found)
    else:
        assert found == parsed.verdict_text
        assert found in raw


@given(answers, formats)
def test_another_reader_finds_the_same_lines(raw: str, format_: VerdictFormat) -> None:
    """Compare with the rule as it is told: line by line, and slowly."""
    lines = [text for text in naive_lines(raw) if is_verdict(text)]
    parsed = parse(raw, format_)
    if not lines:
        assert parsed.error is not None
        assert parsed.error.code == "verdict_missing"
        return
    alone = parse(lines[-1], format_)
    if parsed.error and parsed.error.code == "verdict_conflict":
        values = [parse(line, format_).parsed_verdict for line in lines]
        assert any(value != alone.parsed_verdict for value in values)
    else:
        assert (parsed.parsed_verdict, parsed.error) == (alone.parsed_verdict, alone.error)


def naive_lines(raw: str) -> Iterator[str]:
    for piece in raw.split("\n"):
        yield from piece.split("\r")


def is_verdict(line: str) -> bool:
    marks = " \t\u00a0\u3000*_`~#>+-\u2022\u2013\u2014\u200b\u200c\u200d\u2060\ufeff"
    rest = line.lstrip(marks)
    number = rest.split(".")[0].split(")")[0]
    if number.isascii() and number.isdigit() and len(number) < 10:
        rest = rest[len(number) + 1 :].lstrip(marks)
    if rest[:7].lower() != "verdict":
        return False
    return rest[7:].lstrip(" \t\u00a0\u3000*_`").startswith((":", "\uff1a"))


@given(st.lists(st.sampled_from(["A", "B", "Not safe"]), min_size=1, max_size=5))
def test_what_is_written_is_read(labels: list[str]) -> None:
    for separator in SEPARATORS:
        raw = f"Because.\nVERDICT: {separator.join(labels)}"
        assert set(verdict(raw, "labels")) == set(labels)


@given(st.floats(-1e15, 1e15) | st.integers(-(10**15), 10**15))
@example(5e-324)
def test_every_number_is_read_as_it_is_written(number: float) -> None:
    assert verdict(f"VERDICT: {number!r}", "number") == number


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("ends", ["", "\nVERDICT: A", "VERDICT: A"])
def test_hostile_answers_take_linear_time(unit: str, ends: str) -> None:
    seconds = []
    for size in (20_000, 400_000):
        raw = unit * (size // len(unit)) + ends
        started = time.process_time()
        for type_ in ("label", "number"):
            parsed = parse(raw, form(type_, conflict="fail"))
            assert (parsed.error is None) == (parsed.parsed_verdict is not None)
        seconds.append(time.process_time() - started)
    # Twenty times as long: quadratic would be 400 times as much, and tens of seconds.
    assert seconds[1] < max(80 * seconds[0], 0.5)


@pytest.mark.parametrize("unit", ["VERDICT:", "VERDICT:\n", "verdict ", "*", "> ", "\n"])
def test_ten_megabytes_take_seconds(unit: str) -> None:
    started = time.process_time()
    assert verdict(unit * (10_000_000 // len(unit)) + "\nVERDICT: A") == "A"
    assert time.process_time() - started < 10


def test_a_verdict_that_is_said_a_thousand_times_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    sound = parsing._Reader.meaning

    def watched(self: parsing._Reader, text: str) -> Any:
        read.append(text)
        return sound(self, text)

    monkeypatch.setattr(parsing._Reader, "meaning", watched)
    labels = [f"l{number:03}" + "x" * 90 for number in range(100)]
    told = VerdictFormat(type="labels", labels=labels, conflict="fail")
    raw = f"VERDICT: {labels[0]}\nVERDICT: {labels[0].upper()}\n" * 1_000
    assert parse(raw, told).parsed_verdict == [labels[0]]
    assert len(read) == 2
