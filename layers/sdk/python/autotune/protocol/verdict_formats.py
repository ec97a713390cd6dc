"""What the verdict of a language model looks like, on the wire.

A model is asked to reason first, and to end with a line such as ``VERDICT: safe``. The format says
what may stand there, and what it means.
"""

import unicodedata
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from autotune.protocol import limits
from autotune.protocol.types import RequestModel, ResponseModel, Text, at_most

VerdictType = Literal["label", "labels", "number", "text"]
"""One of the labels, several of them, a number, or any text."""

ParseErrorCode = Literal[
    "output_cut",
    "verdict_missing",
    "verdict_conflict",
    "verdict_empty",
    "verdict_too_long",
    "label_unknown",
    "number_malformed",
    "number_out_of_range",
]

ABSTAIN: Final = "ABSTAIN"
"""What a model may answer, in any case, that does not want to judge; it is parsed as this."""

SEPARATORS: Final = ",;\N{FULLWIDTH COMMA}\N{IDEOGRAPHIC COMMA}"
"""What stands between several labels."""

MARKS: Final = "*_`"
"""Marks of bold, italics and code, which are no part of a verdict's beginning or end."""

_BRACKETS = "[]"


def folded(text: str) -> str:
    """Return a text in the form in which labels are compared.

    Case, runs of white space, and whether accents are characters of their own make no difference.
    """
    composed = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", composed).split())


def _one_line(value: str) -> str:
    if value != value.strip(MARKS).strip() or not value.isprintable():
        raise ValueError(
            "printable text in one line, with no white space, *, _ or ` at its beginning or end"
        )
    return value


Label = Annotated[
    Text,
    StringConstraints(min_length=1, max_length=limits.MAX_LABEL_CHARACTERS),
    AfterValidator(_one_line),
]
Bound = Annotated[
    float,
    Field(
        ge=-limits.MAX_VERDICT_NUMBER,
        le=limits.MAX_VERDICT_NUMBER,
        allow_inf_nan=False,
        strict=True,
    ),
]
MappedText = Annotated[
    Text, StringConstraints(min_length=1, max_length=limits.MAX_LABEL_CHARACTERS, strict=True)
]


class VerdictFormat(RequestModel):
    """What is read from the line of an answer that begins with ``VERDICT:``.

    Attributes:
        type: what may stand there. ``ABSTAIN`` may always.
        labels: the labels of ``label`` and ``labels``, compared in any case. Those of ``labels``
            have no comma or semicolon, which stand between several.
        map: what each of the labels means, instead of itself: a number or a text. All have one.
        minimum: the least that a ``number`` may be; what is below is a failure.
        maximum: the most that a ``number`` may be. With ``maximum: 10`` the verdict may be
            ``7/10`` as well as ``7``.
        conflict: whether the last of several verdicts counts, or several that differ are a failure.
        abstain_words: further words for ``ABSTAIN``, such as ``unsure``.
        on_parse_failure: whether a request whose verdict cannot be read is left at that, or asked
            again as a new one, at most twice and at a cost of its own. An answer that was cut is
            left, because the same ``maxTokens`` would cut it again.
    """

    type: VerdictType
    labels: (
        Annotated[list[Label], Field(min_length=1), at_most(limits.MAX_VERDICT_LABELS)] | None
    ) = None
    map: Annotated[dict[Label, Bound | MappedText], at_most(limits.MAX_VERDICT_LABELS)] | None = (
        None
    )
    minimum: Bound | None = None
    maximum: Bound | None = None
    conflict: Literal["last", "fail"] = "last"
    abstain_words: Annotated[list[Label], at_most(limits.MAX_ABSTAIN_WORDS)] = []
    on_parse_failure: Literal["keep", "reask"] = "keep"

    @model_validator(mode="after")
    def _fields_go_together(self) -> Self:
        if self.type in ("label", "labels"):
            if self.labels is None:
                raise ValueError(f"labels: must be given where type is {self.type}")
            self._check_labels(self.labels)
        else:
            for name in ("labels", "map"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}: only where type is label or labels")
        if self.type == "number":
            least, most = self.minimum, self.maximum
            if least is not None and most is not None and least >= most:
                raise ValueError("minimum: must be below maximum")
        else:
            for name in ("minimum", "maximum"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}: only where type is number")
        words = [folded(word) for word in self.abstain_words]
        if len({*words, folded(ABSTAIN)}) <= len(words):
            raise ValueError(f"abstainWords: each other than {ABSTAIN} and named once, in any case")
        return self

    def _check_labels(self, labels: list[str]) -> None:
        known = {folded(label) for label in labels}
        if len(known) < len(labels):
            raise ValueError("labels: each must differ from the others in more than case")
        if known & {folded(word) for word in (ABSTAIN, *self.abstain_words)}:
            raise ValueError(f"labels: none may be {ABSTAIN} or one of abstainWords")
        if self.type == "labels" and set(SEPARATORS + _BRACKETS) & set("".join(labels)):
            raise ValueError(
                f"labels: none may have {' '.join(SEPARATORS + _BRACKETS)} where type is labels"
            )
        if self.map is None:
            return
        if self.map.keys() - set(labels):
            raise ValueError("map: every name must be one of labels")
        if set(labels) - self.map.keys():
            raise ValueError("map: every one of labels must be named")
        if any(value == ABSTAIN for value in self.map.values()):
            raise ValueError(f"map: no value may be {ABSTAIN}")


class ParseError(ResponseModel):
    """Why an answer has no verdict.

    ``message`` repeats nothing of the answer. ``code`` is one of:

    - ``output_cut``: the model had no tokens left, and may have been about to write another.
    - ``verdict_missing``: no line begins with ``VERDICT:``.
    - ``verdict_conflict``: several do, they differ, and ``conflict`` is ``fail``.
    - ``verdict_empty``: nothing stands behind it.
    - ``verdict_too_long``: more does than a verdict may have.
    - ``label_unknown``: it is none of the labels; the nearest is never taken.
    - ``number_malformed``: it is no number, or not one alone.
    - ``number_out_of_range``: the number lies outside of the range, and is not moved into it.
    """

    code: ParseErrorCode
    message: str
