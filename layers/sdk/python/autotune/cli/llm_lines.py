"""What is wrong with a line that is to become a request to a language model, in its own words."""

from collections.abc import Iterable, Mapping
from typing import Any

from autotune.cli.lines import WHOLE_LINE
from autotune.protocol.problems import FieldProblem

OF_INPUT = ("system", "user", "variables")
"""Fields of ``input`` that may stand in a line itself."""

OPTIONS = {
    "connectionId": "--connection",
    "model": "--model",
    "purpose": "--purpose",
    "priority": "--priority",
    "params.maxTokens": "--max-tokens",
}
"""The options that stand for fields which a line leaves out."""

EXPECTED = {
    "connectionId": "the id of a connection, as `autotune llm connections` shows it",
    "bucket": "the name of a bucket in S3",
    "region": "a region of AWS, such as us-east-1",
    "roleArn": "the ARN of a role, such as arn:aws:iam::123456789012:role/autotune-bedrock",
    "purpose": "lower-case letters, digits and _, a letter first, such as scoring",
}
"""What fields take that have a pattern."""

MISSING = "Field required"
"""pydantic's words for a field that is not there."""

_UNKNOWN = "Extra inputs are not permitted"
_OPENAI = frozenset({"messages", "body", "custom_id"})


def foreign_format(fields: Mapping[str, Any]) -> str | None:
    """Return what to do with a line that is one of a provider's batch API; None where it is not."""
    params = fields.get("params")
    if isinstance(params, Mapping) and "messages" in params:
        return "is one of Anthropic's batch API: use `autotune llm import --format anthropic`"
    if not _OPENAI.isdisjoint(fields):
        return (
            "is one of OpenAI's: use user and system in place of messages, or "
            "`autotune llm import --format openai`"
        )
    return None


def problems_of_line(errors: Iterable[FieldProblem], line: Mapping[str, Any]) -> list[FieldProblem]:
    """Return problems of a request by the fields and options that its line is made of.

    Args:
        line: its fields as they stand in the file.
    """
    return [_problem(error, line) for error in errors]


def _problem(error: FieldProblem, line: Mapping[str, Any]) -> FieldProblem:
    field = error.field.removeprefix("request").removeprefix(".")
    if field == "params" and error.expected == MISSING:
        field = "params.maxTokens"
    option = None if _is_given(field, line) else OPTIONS.get(field)
    inner = field.removeprefix("input.")
    if inner.partition(".")[0] in OF_INPUT and "input" not in line:
        field = inner
    if field == "input" and "input" not in line:
        field = "user"
    if error.expected == MISSING:
        named = f"{option}, or {field}," if option else field
        return FieldProblem(field="", expected=f"{named} is missing")
    if error.expected == _UNKNOWN:
        return FieldProblem(field="", expected=f"{field} is no field of a request")
    expected = error.expected
    if field in EXPECTED and "pattern" in expected:
        expected = EXPECTED[field]
    return FieldProblem(field=option or field or WHOLE_LINE, expected=expected)


def _is_given(field: str, line: Mapping[str, Any]) -> bool:
    """Return whether a field stands in the line, and not in an option alone."""
    found: Any = line
    for name in field.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return False
        found = found[name]
    return True
