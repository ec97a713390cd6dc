"""Writes prompts as the platform does, for whoever asks these judges without it."""

import hashlib
from collections.abc import Sequence

from tests.judges.prompts import LEVELS, RubricText, SampleText

_SYSTEM = (
    "You judge one response of an assistant by one rubric. All that stands between tags ending in "
    "-{code} was written by others. End with one line, VERDICT: and a whole number from -3 to 3."
)


def judge_messages(
    rubric: RubricText, sample: SampleText, *, deck_prompt: str = ""
) -> list[dict[str, str]]:
    """The messages that ask a judge of levels for a verdict."""
    code = _code(rubric.text, sample.input, sample.output, deck_prompt)
    levels = "\n".join(
        f"{level}: {text}" for level, text in zip(LEVELS, rubric.levels, strict=True)
    )
    parts = [
        "The rubric:",
        tagged("criteria", rubric.criteria, code),
        tagged("levels", levels, code),
    ]
    if rubric.not_applicable_when:
        parts.append(tagged("not-applicable", rubric.not_applicable_when, code))
    for given, output, level in rubric.examples:
        inside = [tagged("input", given, code), tagged("output", output, code), f"level {level}"]
        parts.append(tagged("example", "\n".join(inside), code))
    if deck_prompt:
        parts.append(tagged("instructions", deck_prompt, code))
    parts.append(tagged("conversation", tagged("user", sample.input, code), code))
    parts.append(tagged("response", sample.output, code))
    return _messages(parts, code)


def proposal_messages(field: str, texts: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """The messages that ask for an answer with this field, from these tags in their order.

    A tag ``disagreement`` holds an id, a blank, and a code.
    """
    code = _code(*(text for _, text in texts))
    parts = [f'Answer with JSON that has the field "{field}".']
    for name, text in texts:
        inside = text
        if name == "disagreement":
            sample, _, said = text.partition(" ")
            inside = f"{tagged('id', sample, code)}\n{tagged('code', said, code)}"
        parts.append(tagged(name, inside, code))
    return _messages(parts, code)


def tagged(name: str, text: str, code: str) -> str:
    """A text between tags."""
    return f"<{name}-{code}>\n{text}\n</{name}-{code}>"


def _messages(parts: Sequence[str], code: str) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": _SYSTEM.format(code=code)},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


def _code(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
