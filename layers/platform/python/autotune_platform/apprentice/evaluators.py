"""How far a local answer agrees with the paid model's, as a score from 0 to 1.

Answers are compared as they are: nothing is trimmed, folded or corrected. JSON is compared as what
it means, so that spaces and the order of names make no difference, nor a code fence around it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from autotune_platform.apprentice.fences import unfenced
from autotune_platform.runtime.bounded_json import parse_strictly

MAX_ANSWER_BYTES = 200_000
MAX_ANSWER_VALUES = 10_000
MAX_MATCH_FIELDS = 100
MAX_DIMENSIONS = 10_000


class EvaluatorSettingsError(ValueError):
    """An evaluator cannot be made of these settings; the message names what is wrong."""


class UnusableTruthError(ValueError):
    """The paid model's answer is nothing to compare with: there is no pair."""


class EvaluatorKind(StrEnum):
    """How answers are compared."""

    STRUCTURED_MATCH = "structured_match"
    EXACT_MATCH = "exact_match"


class Fault(StrEnum):
    """Why a local answer scored 0 before it was compared."""

    TOO_LARGE = "too_large"
    UNPARSEABLE = "unparseable"
    NO_OBJECT = "no_object"


@dataclass(frozen=True)
class Evaluation:
    """What came of comparing two answers.

    Attributes:
        score: from 0 to 1.
        kind: by which evaluator.
        fields: of ``structured_match``, the score of each field; all are 0 where nothing could be
            compared.
        fault: why nothing could be.
    """

    score: float
    kind: EvaluatorKind
    fields: Mapping[str, float] = field(default_factory=dict)
    fault: Fault | None = None


class _UnreadableError(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class StructuredMatch:
    """The share of fields that are equal."""

    def __init__(self, match_fields: Sequence[str], output_schema: Mapping[str, Any]) -> None:
        """Make an evaluator.

        Args:
            match_fields: names of fields of the output; each counts alike.
            output_schema: the JSON Schema of the output, which has these as its ``properties``.

        Raises:
            EvaluatorSettingsError: a name is none of the schema's, or there twice, or there are
                none or more than 100.
        """
        if not 1 <= len(match_fields) <= MAX_MATCH_FIELDS:
            raise EvaluatorSettingsError(
                f"match_fields: from 1 to {MAX_MATCH_FIELDS}, not {len(match_fields)}"
            )
        properties = output_schema.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        for place, name in enumerate(match_fields):
            if name not in known:
                raise EvaluatorSettingsError(
                    f"match_fields[{place}]: {name!r} is no property of the output schema"
                )
        if len(set(match_fields)) < len(match_fields):
            raise EvaluatorSettingsError("match_fields: each name once")
        self._fields = tuple(match_fields)

    def evaluate(self, local: str, truth: str) -> Evaluation:
        """Compare two answers, both JSON objects.

        A field that both leave out agrees; one that one of them leaves out does not, and null is
        not the same as nothing.

        Raises:
            UnusableTruthError: the paid model's answer is no JSON object.
        """
        right = _of_truth(truth)
        try:
            left = _object(local)
        except _UnreadableError as error:
            nothing = dict.fromkeys(self._fields, 0.0)
            return Evaluation(0.0, EvaluatorKind.STRUCTURED_MATCH, nothing, error.fault)
        fields = {name: float(_agree(name, left, right)) for name in self._fields}
        score = math.fsum(fields.values()) / len(fields)
        return Evaluation(score, EvaluatorKind.STRUCTURED_MATCH, fields)


class ExactMatch:
    """1 if the whole answers are equal, else 0."""

    def evaluate(self, local: str, truth: str) -> Evaluation:
        """Compare two answers: as JSON where both are objects or arrays, else as texts.

        Raises:
            UnusableTruthError: the paid model's answer is larger than is compared.
        """
        if _is_too_large(truth):
            raise UnusableTruthError(f"more than {MAX_ANSWER_BYTES} bytes")
        if _is_too_large(local):
            return Evaluation(0.0, EvaluatorKind.EXACT_MATCH, fault=Fault.TOO_LARGE)
        is_equal = local == truth
        if not is_equal and _may_be_container(local) and _may_be_container(truth):
            try:
                is_equal = equal_json(_json(local), _json(truth))
            except _UnreadableError:
                is_equal = False
        return Evaluation(float(is_equal), EvaluatorKind.EXACT_MATCH)


def equal_json(left: Any, right: Any) -> bool:
    """Return whether two JSON values are the same: 1 and 1.0 are, 1 and true are not.

    It needs no recursion, however deep they nest, and time in proportion to the smaller one.
    """
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, bool) or isinstance(other, bool):
            if one is not other:
                return False
        elif isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pending.extend((member, other[name]) for name, member in one.items())
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif isinstance(one, dict | list) or isinstance(other, dict | list) or one != other:
            return False
    return True


def cosine_similarity(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the cosine of two embeddings, with what is below 0 as 0.

    A vector of zeros is like nothing, itself included: 0.

    Args:
        left: from 1 to 10,000 finite numbers.
        right: as many.

    Raises:
        ValueError: they are of unlike lengths, or not such.
    """
    if len(left) != len(right):
        raise ValueError(f"vectors of one length, not {len(left)} and {len(right)}")
    if not 1 <= len(left) <= MAX_DIMENSIONS:
        raise ValueError(f"from 1 to {MAX_DIMENSIONS} numbers, not {len(left)}")
    if not all(map(math.isfinite, (*left, *right))):
        raise ValueError("finite numbers alone")
    one, other = _unit(left), _unit(right)
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return min(max(product, 0.0), 1.0)


def _unit(vector: Sequence[float]) -> list[float]:
    largest = max(map(abs, vector))
    if largest == 0:
        return list(vector)
    scaled = [value / largest for value in vector]  # squares of what is left are no infinities
    length = math.hypot(*scaled)
    return [value / length for value in scaled]


def _agree(name: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    if name in left and name in right:
        return equal_json(left[name], right[name])
    return name not in left and name not in right


def _of_truth(text: str) -> dict[str, Any]:
    try:
        return _object(text)
    except _UnreadableError as error:
        raise UnusableTruthError(f"the paid model's answer is {error.fault}") from error


def _object(text: str) -> dict[str, Any]:
    value = _json(text)
    if not isinstance(value, dict):
        raise _UnreadableError(Fault.NO_OBJECT)
    return value


def _json(text: str) -> Any:
    if _is_too_large(text):
        raise _UnreadableError(Fault.TOO_LARGE)
    try:
        return parse_strictly(unfenced(text).encode(), most_values=MAX_ANSWER_VALUES)
    except json.JSONDecodeError as error:
        raise _UnreadableError(Fault.UNPARSEABLE) from error
    except UnicodeEncodeError as error:  # a lone surrogate, which no JSON in UTF-8 can hold
        raise _UnreadableError(Fault.UNPARSEABLE) from error
    except ValueError as error:
        raise _UnreadableError(Fault.TOO_LARGE) from error


def _is_too_large(text: str) -> bool:
    if len(text) > MAX_ANSWER_BYTES:
        return True
    return len(text.encode(errors="surrogatepass")) > MAX_ANSWER_BYTES


def _may_be_container(text: str) -> bool:
    return unfenced(text).lstrip(" \t\r\n")[:1] in ("{", "[")
