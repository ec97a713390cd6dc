"""Having a builtin grader judge one response."""

from typing import Any

from pydantic import TypeAdapter

from autotune.protocol.builtin import BuiltinConfiguration
from autotune.protocol.grading import GraderScore
from autotune_platform.checks.compiling import (
    compile_builtin,
)
from autotune_platform.checks.templates import Sample

configurations: TypeAdapter[BuiltinConfiguration] = TypeAdapter(BuiltinConfiguration)


def graded(
    configuration: dict[str, Any], response: str = "", *, prompt: str = "p", **metadata: Any
) -> GraderScore:
    grader = compile_builtin(configurations.validate_python(configuration), field="builtin")
    return grader(Sample(prompt=prompt, response=response, metadata=metadata))


def value(configuration: dict[str, Any], response: str = "", **metadata: Any) -> float:
    return graded(configuration, response, **metadata).value
