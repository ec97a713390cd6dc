"""Having a builtin grader judge one response."""

from typing import Any

from pydantic import TypeAdapter

from autotune.protocol.builtin import BuiltinConfiguration
from autotune.protocol.grading import GraderScore
from autotune_platform.checks.compiling import check_builtin, compile_builtin
from autotune_platform.checks.templates import Sample

configurations: TypeAdapter[BuiltinConfiguration] = TypeAdapter(BuiltinConfiguration)


def graded(
    configuration: dict[str, Any], response: str = "", *, prompt: str = "p", **metadata: Any
) -> GraderScore:
    read = configurations.validate_python(configuration)
    check_builtin(read, field="builtin")
    grader = compile_builtin(read, field="builtin")
    return grader(Sample(prompt=prompt, response=response, metadata=metadata))


def value(configuration: dict[str, Any], response: str = "", **metadata: Any) -> float:
    return graded(configuration, response, **metadata).value
