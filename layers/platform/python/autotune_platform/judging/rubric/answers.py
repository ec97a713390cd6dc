"""Reading what a model answered as a score: what cannot be read is a failure, and never a score."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from autotune.protocol.grading import GraderScore, ScoreDimension
from autotune.protocol.limits import MAX_REASONING_CHARACTERS
from autotune.protocol.rubrics import PromptedAnswer, RubricScore
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.frozen_model import DEFERRED

_FENCE = "```"
_SHOWN = ("description", "conclusion")
_MOST_VALUES = 5_000
_MOST_CHARACTERS = 2_000_000

_answer: TypeAdapter[PromptedAnswer] = TypeAdapter(PromptedAnswer, config=DEFERRED)


def read_answer(text: str, form: str) -> GraderScore:
    """Return the score that a model's answer says.

    The documented answer is an object with ``steps`` and ``result``; the result alone, as models
    give it that prompts ask for nothing but a number, is read as well. A code fence around it does
    not count.

    Args:
        form: what the model was to answer with, as JSON of ``PromptedAnswer``.

    Raises:
        CompletionFaultError: no such result is in it, or the number is outside of its range.
    """
    rule = _rule(form)
    document = _document(text)
    result = document.get("result") if isinstance(document, Mapping) else document
    reasoning = _reasoning(document) if isinstance(document, Mapping) else None
    if isinstance(rule, RubricScore):
        value, passed = _value(result, rule)
        dimensions = (
            None if passed is None else [ScoreDimension(name="passed", value=float(passed))]
        )
        return GraderScore(value=value, dimensions=dimensions, reasoning=reasoning)
    if not isinstance(result, str) or result not in rule.labels:
        raise CompletionFaultError("model_answer_unreadable")
    return GraderScore(value=float(result in rule.passing_labels), reasoning=reasoning)


def is_asked_again(form: str) -> bool:
    """Return whether an answer of this form that cannot be read is asked for again."""
    return _rule(form).on_parse_failure == "reask"


def _rule(form: str) -> PromptedAnswer:
    return _answer.validate_python(parse_strictly(form.encode(), most_values=_MOST_VALUES))


def _document(text: str) -> Any:
    plain = text.strip()
    if plain.startswith(_FENCE) and plain.endswith(_FENCE) and "\n" in plain:
        plain = plain[plain.index("\n") : -len(_FENCE)].strip()
    if len(plain) > _MOST_CHARACTERS:
        raise CompletionFaultError("model_answer_unreadable")
    if not plain.startswith(("{", "[", '"')) and not _is_number(plain):
        return plain
    try:
        return parse_strictly(plain.encode(), most_values=_MOST_VALUES)
    except ValueError as error:
        raise CompletionFaultError("model_answer_unreadable") from error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value(result: Any, rule: RubricScore) -> tuple[float, bool | None]:
    """Return where a number lies in its range, and whether it passes, if that is asked."""
    if isinstance(result, bool) or not isinstance(result, int | float):
        raise CompletionFaultError("model_answer_unreadable")
    if not rule.minimum <= result <= rule.maximum:
        raise CompletionFaultError("model_answer_out_of_range")
    share = (result - rule.minimum) / (rule.maximum - rule.minimum)
    passed = None if rule.pass_threshold is None else result >= rule.pass_threshold
    return min(max(share, 0.0), 1.0), passed


def _reasoning(document: Mapping[str, Any]) -> str | None:
    steps = document.get("steps")
    if not isinstance(steps, list):
        return None
    lines = [
        ": ".join(step[name] for name in _SHOWN if isinstance(step.get(name), str))
        for step in steps
        if isinstance(step, Mapping)
    ]
    shown = "\n".join(line for line in lines if line)
    return shown[:MAX_REASONING_CHARACTERS] or None
