"""Reading the verdict from a model's answer: reasoning first, then a line ``VERDICT: …``.

What counts is the last line that begins with ``VERDICT:``, in any case. Marks of Markdown may stand
around it: of lists, bold, block quotes, headings and code. These choices are kept to:

- A line ends with LF, CR LF or CR. Other separators of Unicode are characters within it: text that
  a model quotes in one line cannot begin another by them.
- A full-width colon is one, and white space may stand before the colon: a line that looks like a
  verdict is not passed over in favour of an earlier one.
- Code fences mean nothing: a line inside one counts. A fence that quoted text opens and nobody
  closes would otherwise hide the model's own verdict.
- Quotation marks are no marks: ``"VERDICT: A"`` quotes somebody.
- What cannot be read is a failure. No label is the nearest, no number is moved into its range, and
  an earlier verdict never stands in for a last one that cannot be read.

The time is linear in the answer's length, whatever stands in it: expressions never go back, and a
verdict's length is bounded. An answer of 10 MB takes seconds.
"""

import re
from decimal import Decimal
from typing import Final

from autotune.protocol.limits import MAX_VERDICT_CHARACTERS, MAX_VERDICT_NUMBER
from autotune.protocol.verdict_formats import (
    ABSTAIN,
    MARKS,
    SEPARATORS,
    ParseError,
    ParseErrorCode,
    VerdictFormat,
    folded,
)
from autotune_platform.runtime.frozen_model import FrozenModel

PARSER_VERSION: Final = 1
"""Raised by each change of what is read from any answer: answers may be parsed again later."""

_Single = str | int | float
ParsedVerdict = _Single | list[_Single]

_SPACE = " \t\u00a0\u3000"
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
# Before the keyword: white space, bullets, quotes, headings, bold, code.
_LEADING = re.escape(_SPACE + MARKS + "~#>+-\N{BULLET}\N{EN DASH}\N{EM DASH}" + _INVISIBLE)
# Every repetition is possessive: what it took is never given back to be tried another way.
_VERDICT_LINE = re.compile(
    rf"""
    (?:\A|(?<=[\r\n]))
    (?P<before> (?:[{_LEADING}]*+[0-9]{{1,9}}+[.)])?+ [{_LEADING}]*+ )
    (?i:verdict)
    (?P<between> [{re.escape(_SPACE + MARKS)}]*+ )
    [:\N{{FULLWIDTH COLON}}]
    (?P<text> [^\r\n]*+ )
    """,
    re.VERBOSE | re.ASCII,
)
_MOST_MARKS = 8
_MOST_REMEMBERED = 1_000
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{1,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
)
_SPLIT = re.compile(f"[{re.escape(SEPARATORS)}]")


class Parsed(FrozenModel):
    """What was read from an answer: the first three fields, or an error and none of them.

    Attributes:
        reasoning: what stands before the verdict's line, without white space around it.
        verdict_text: the verdict as the model wrote it, without marks around it.
        parsed_verdict: what it means in its format: a label, a number, a text, what the label is
            mapped to, or a list of these; ``ABSTAIN`` where the model did not judge.
        abstained: whether it did not.
        parser_version: ``PARSER_VERSION`` of the parser that read it.
    """

    reasoning: str | None = None
    verdict_text: str | None = None
    parsed_verdict: ParsedVerdict | None = None
    abstained: bool = False
    error: ParseError | None = None
    parser_version: int = PARSER_VERSION


class _UnreadableError(Exception):
    def __init__(self, code: ParseErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = ParseError(code=code, message=message)


def parse(raw: str, form: VerdictFormat, *, is_cut: bool = False) -> Parsed:
    """Return what an answer says in a format; what cannot be read is in ``error``.

    Args:
        raw: the model's answer, of any length.
        form: what its verdict looks like.
        is_cut: whether the model stopped because it had no tokens left. What it wrote last may be
            half a verdict (``VERDICT: 1`` of ``10``), or one that it was about to weigh: a failure.
    """
    try:
        return _parse(raw, form, is_cut=is_cut)
    except _UnreadableError as unreadable:
        return Parsed(error=unreadable.error)


def text_behind(raw: str) -> str:
    """Return what stands in the lines below an answer's verdict; nothing where it has none."""
    end = len(raw)
    for line in _VERDICT_LINE.finditer(raw):
        end = line.end()
    return raw[end:]


def _parse(raw: str, form: VerdictFormat, *, is_cut: bool) -> Parsed:
    if is_cut:
        raise _UnreadableError("output_cut", "the model had no tokens left before it ended")
    last: re.Match[str] | None = None
    for line in _VERDICT_LINE.finditer(raw):
        last = line
    if last is None:
        raise _UnreadableError("verdict_missing", "no line begins with VERDICT:")
    reader = _Reader(form)
    text = _text_of(last)
    value = reader.meaning(text)
    if form.conflict == "fail" and reader.differs(value, raw, known=text):
        raise _UnreadableError("verdict_conflict", "several lines begin with VERDICT: and differ")
    return Parsed(
        reasoning=raw[: last.start()].strip(),
        verdict_text=text,
        parsed_verdict=value,
        abstained=value == ABSTAIN,
    )


def _text_of(line: re.Match[str]) -> str:
    """Return a line's verdict without marks around it, or the beginning of one that is too long."""
    start, end = line.span("text")
    found = line.string[start:end].strip()
    if len(found) > MAX_VERDICT_CHARACTERS + 4 * _MOST_MARKS:
        return found[: MAX_VERDICT_CHARACTERS + 1]
    before = line["before"]
    opening = before[len(before.rstrip(MARKS)) :][:_MOST_MARKS]
    is_closed = bool(line["between"].strip(_SPACE))  # **VERDICT**: A
    if opening and not is_closed:
        closing = opening[::-1]
        if line.string.startswith(closing, start):  # **VERDICT:** A
            found = found.removeprefix(closing)
        else:  # **VERDICT: A**
            found = found.removesuffix(closing)
    return _without_pairs(found.strip())


def _without_pairs(text: str) -> str:
    """Return a text without the marks that stand on both of its sides."""
    pairs = 0
    while pairs < len(text) // 2 and text[pairs] in MARKS and text[pairs] == text[-1 - pairs]:
        pairs += 1
    return text[pairs : len(text) - pairs].strip()


class _Reader:
    """Reads verdicts in one format, of which an answer may have a million."""

    def __init__(self, form: VerdictFormat) -> None:
        self._form = form
        self._abstaining = {folded(word) for word in (ABSTAIN, *form.abstain_words)}
        self._labels = {folded(label): label for label in form.labels or ()}

    def differs(self, value: ParsedVerdict, raw: str, *, known: str) -> bool:
        """Return whether any verdict of an answer means something else; ``known`` does not."""
        alike = {known}
        for line in _VERDICT_LINE.finditer(raw):
            text = _text_of(line)
            if text in alike:
                continue
            if self._meaning_or_none(text) != value:
                return True
            if len(alike) < _MOST_REMEMBERED:
                alike.add(text)
        return False

    def _meaning_or_none(self, text: str) -> ParsedVerdict | None:
        try:
            return self.meaning(text)
        except _UnreadableError:
            return None

    def meaning(self, text: str) -> ParsedVerdict:
        """Return what a verdict means.

        Raises:
            _UnreadableError: nothing, in this format.
        """
        if not text:
            raise _UnreadableError("verdict_empty", "nothing stands behind VERDICT:")
        if len(text) > MAX_VERDICT_CHARACTERS:
            raise _UnreadableError(
                "verdict_too_long", f"a verdict of more than {MAX_VERDICT_CHARACTERS} characters"
            )
        spellings = _spellings(text)
        if any(folded(spelling) in self._abstaining for spelling in spellings):
            return ABSTAIN
        match self._form.type:
            case "text":
                return text
            case "number":
                return self._number(spellings)
            case "label":
                return self._meaning_of(self._label(spellings))
            case "labels":
                return self._several(spellings[-1])

    def _label(self, spellings: tuple[str, ...]) -> str:
        for spelling in spellings:
            if (label := self._labels.get(folded(spelling))) is not None:
                return label
        raise _UnreadableError("label_unknown", "the verdict is none of the labels")

    def _several(self, listed: str) -> list[_Single]:
        """Return what is listed, each once, in the order of the format."""
        if listed.startswith("[") and listed.endswith("]"):
            listed = listed[1:-1]
        named = {self._label(_spellings(part.strip())) for part in _SPLIT.split(listed)}
        return [self._meaning_of(label) for label in self._labels.values() if label in named]

    def _meaning_of(self, label: str) -> _Single:
        return label if self._form.map is None else self._form.map[label]

    def _number(self, spellings: tuple[str, ...]) -> int | float:
        for spelling in spellings:
            value, slash, scale = spelling.replace("\N{MINUS SIGN}", "-").partition("/")
            if slash and not self._is_maximum(scale.strip(_SPACE)):
                continue
            if _NUMBER.fullmatch(value.rstrip(_SPACE)):
                return self._in_range(Decimal(value.rstrip(_SPACE)))
        raise _UnreadableError("number_malformed", "the verdict is not a number and nothing else")

    def _is_maximum(self, scale: str) -> bool:
        """Return whether a number is given out of the most that it may be, as ``7/10`` is."""
        most = self._form.maximum
        is_number = _NUMBER.fullmatch(scale) is not None
        return most is not None and is_number and Decimal(scale) == Decimal(repr(most))

    def _in_range(self, exact: Decimal) -> int | float:
        """Return a number, whole where it is whole, unless it lies outside of the range."""
        least, most = self._form.minimum, self._form.maximum
        if not (
            (-MAX_VERDICT_NUMBER if least is None else Decimal(repr(least)))
            <= exact
            <= (MAX_VERDICT_NUMBER if most is None else Decimal(repr(most)))
        ):
            raise _UnreadableError("number_out_of_range", "the verdict lies outside of its range")
        if exact == exact.to_integral_value():
            return int(exact)
        if (value := float(exact)) == 0:
            raise _UnreadableError("number_out_of_range", "the verdict is too near to 0")
        return value


def _spellings(text: str) -> tuple[str, ...]:
    """Return what a short verdict may be: itself, then without marks, then without a full stop."""
    plain = text.strip(MARKS + _SPACE)
    return text, plain, plain.removesuffix(".").rstrip(MARKS + _SPACE)
