"""From a builtin grader's configuration to what judges a completion.

Libraries are imported by the kinds that need them: a cold start that grades nothing with them does
not pay for them.
"""

import hashlib
import json
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from autotune.protocol.builtin import (
    BuiltinConfiguration,
    ExactMatch,
    JsonSchema,
    Multi,
    Numeric,
    SingleBuiltin,
    StringCheck,
    TextSimilarity,
)
from autotune.protocol.grading import GraderScore, ScoreDimension
from autotune.protocol.limits import MAX_BUILTIN_CONFIGURATION_BYTES, MAX_BUILTIN_PATTERNS
from autotune_platform.checks.expressions import Expression, ExpressionError
from autotune_platform.checks.faults import CompletionFaultError, configuration_error
from autotune_platform.checks.templates import Sample, Template, read_json
from autotune_platform.checks.work import cpu_limit
from autotune_platform.runtime.frozen_model import DEFERRED

_VERSION_DIGITS = 12
# A formula such as 0.1 + 0.2 + 0.7 may come to a hair more than 1.
_ROUNDING = 1e-9

_configuration: TypeAdapter[BuiltinConfiguration] = TypeAdapter(
    BuiltinConfiguration, config=DEFERRED
)

Judge = Callable[[Sample], float]


BuiltinGrader = Callable[[Sample], GraderScore]
"""Returns the score of a completion; ``CompletionFaultError`` is raised if it cannot be judged."""


def stored_form(configuration: BuiltinConfiguration) -> dict[str, Any]:
    """Return a configuration as JSON, every field of it."""
    return dict(_configuration.dump_python(configuration, mode="json", by_alias=True))


def version_of(stored: Mapping[str, Any]) -> str:
    """Return the version that a stored configuration is: another one is another version."""
    document = json.dumps(stored, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).hexdigest()[:_VERSION_DIGITS]


def compile_stored(stored: Mapping[str, Any]) -> BuiltinGrader:
    """Return the grader of a configuration that was checked before it was stored.

    Raises:
        InvalidRequestError: it is none after all.
    """
    return compile_builtin(_configuration.validate_python(stored), field="builtin")


def compile_builtin(configuration: BuiltinConfiguration, *, field: str) -> BuiltinGrader:
    """Return the grader that a configuration describes, which ``check_builtin`` has looked at.

    Args:
        field: where the configuration stands, for errors.

    Raises:
        InvalidRequestError: a template or a formula is none.
    """
    grader = _grader(configuration, field)

    def grade(sample: Sample) -> GraderScore:
        with cpu_limit():
            return grader(sample)

    return grade


def check_builtin(configuration: BuiltinConfiguration, *, field: str) -> None:
    """Require that a configuration describes a grader, and one that may run.

    Args:
        field: where the configuration stands, for errors.

    Raises:
        InvalidRequestError: a template, a pattern, a schema or a formula is none, or it is larger
            than may be stored or run.
    """
    _require_text(configuration, field)
    size = len(json.dumps(stored_form(configuration), separators=(",", ":")).encode())
    if size > MAX_BUILTIN_CONFIGURATION_BYTES:
        raise configuration_error(
            field, f"at most {MAX_BUILTIN_CONFIGURATION_BYTES} bytes as JSON, not {size}"
        )
    patterns: set[str] = set()
    try:
        with cpu_limit():
            for place, single in _singles(configuration, field):
                patterns |= _check_single(single, place)
    except CompletionFaultError as error:
        raise configuration_error(field, "a configuration that takes less to check") from error
    if len(patterns) > MAX_BUILTIN_PATTERNS:
        raise configuration_error(field, f"at most {MAX_BUILTIN_PATTERNS} different patterns")
    _grader(configuration, field)


def _require_text(configuration: BuiltinConfiguration, field: str) -> None:
    """Require that schemas hold what UTF-8 can: free-form JSON can spell lone surrogates."""
    for place, single in _singles(configuration, field):
        if isinstance(single, JsonSchema):
            try:
                json.dumps(single.json_schema, ensure_ascii=False).encode()
            except UnicodeEncodeError as error:
                raise configuration_error(f"{place}.schema", "text that UTF-8 can hold") from error


def _singles(
    configuration: BuiltinConfiguration, field: str
) -> Iterator[tuple[str, SingleBuiltin]]:
    if not isinstance(configuration, Multi):
        yield field, configuration
        return
    for name, single in configuration.graders.items():
        yield f"{field}.graders.{name}", single


def _check_single(configuration: SingleBuiltin, field: str) -> set[str]:
    """Check what takes work to check; return the patterns in it."""
    if isinstance(configuration, JsonSchema):
        from autotune_platform.checks.schemas import check_schema  # noqa: PLC0415 - as above

        return check_schema(configuration.json_schema, field=f"{field}.schema")
    if not isinstance(configuration, Numeric):
        return set()
    pattern = configuration.pattern
    if (configuration.extract == "regex") != (pattern is not None):
        raise configuration_error(f"{field}.pattern", "a pattern, for extract regex alone")
    if pattern is None:
        return set()
    from autotune_platform.checks.patterns import check_pattern  # noqa: PLC0415 - as above

    check_pattern(pattern, field=f"{field}.pattern", with_groups=True)
    return {pattern}


def _grader(configuration: BuiltinConfiguration, field: str) -> BuiltinGrader:
    if isinstance(configuration, Multi):
        return _multi(configuration, field)
    judge = _single(configuration, field)
    if isinstance(configuration, TextSimilarity) and configuration.pass_threshold is not None:
        return _with_threshold(judge, configuration.pass_threshold)
    return lambda sample: GraderScore(value=judge(sample))


def _single(configuration: SingleBuiltin, field: str) -> Judge:
    text = Template(configuration.input, field=f"{field}.input")
    if isinstance(configuration, JsonSchema):
        return _json_schema(configuration, text)
    reference = Template(configuration.reference, field=f"{field}.reference")
    match configuration:
        case ExactMatch():
            return _exact_match(configuration, text, reference)
        case StringCheck():
            return _string_check(configuration, text, reference)
        case TextSimilarity():
            return _text_similarity(configuration, text, reference)
        case Numeric():
            return _numeric(configuration, text, reference)


def _exact_match(configuration: ExactMatch, text: Template, reference: Template) -> Judge:
    def comparable(given: str) -> str:
        given = given.strip() if configuration.trim else given
        return given.casefold() if configuration.ignore_case else given

    return lambda sample: float(comparable(text.text(sample)) == comparable(reference.text(sample)))


def _string_check(configuration: StringCheck, text: Template, reference: Template) -> Judge:
    holds: Mapping[str, Callable[[str, str], bool]] = {
        "eq": operator.eq,
        "ne": operator.ne,
        "like": operator.contains,
        "ilike": lambda given, expected: expected.casefold() in given.casefold(),
    }
    operation = holds[configuration.operation]
    return lambda sample: float(operation(text.text(sample), reference.text(sample)))


def _text_similarity(configuration: TextSimilarity, text: Template, reference: Template) -> Judge:
    from autotune_platform.checks.similarity import similarity  # noqa: PLC0415 - as above

    return lambda sample: similarity(
        text.text(sample), reference.text(sample), configuration.metric
    )


def _numeric(configuration: Numeric, text: Template, reference: Template) -> Judge:
    from autotune_platform.checks import numeric  # noqa: PLC0415 - as above

    place, pattern = configuration.extract, configuration.pattern

    def judge(sample: Sample) -> float:
        expected = numeric.find_number(reference.text(sample), "last_number", None)
        if expected is None:
            raise CompletionFaultError("builtin_input_missing")
        found = numeric.find_number(text.text(sample), place, pattern)
        return float(
            found is not None
            and numeric.numbers_agree(
                found,
                expected,
                absolute=configuration.absolute_tolerance,
                relative=configuration.relative_tolerance,
            )
        )

    return judge


def _json_schema(configuration: JsonSchema, text: Template) -> Judge:
    from autotune_platform.checks.schemas import Schema  # noqa: PLC0415 - as above

    schema = Schema(configuration.json_schema)

    def judge(sample: Sample) -> float:
        try:
            instance = read_json(text.text(sample))
        except ValueError:
            return 0.0
        return float(schema.admits(instance))

    return judge


def _with_threshold(judge: Judge, threshold: float) -> BuiltinGrader:
    def grade(sample: Sample) -> GraderScore:
        value = judge(sample)
        passed = ScoreDimension(name="passed", value=float(value >= threshold), weight=0.0)
        return GraderScore(value=value, dimensions=[passed])

    return grade


def _multi(configuration: Multi, field: str) -> BuiltinGrader:
    judges = {
        name: _single(grader, f"{field}.graders.{name}")
        for name, grader in configuration.graders.items()
    }
    try:
        formula = Expression(configuration.calculate_output, names=judges)
    except ExpressionError as error:
        raise configuration_error(f"{field}.calculateOutput", str(error)) from error

    def grade(sample: Sample) -> GraderScore:
        values = {name: judge(sample) for name, judge in judges.items()}
        try:
            value = formula.value(values)
        except ExpressionError as error:
            raise CompletionFaultError("builtin_error") from error
        if not -_ROUNDING <= value <= 1 + _ROUNDING:
            raise CompletionFaultError("builtin_out_of_range")
        return GraderScore(
            value=min(1.0, max(0.0, value)),
            dimensions=[ScoreDimension(name=name, value=each) for name, each in values.items()],
        )

    return grade
