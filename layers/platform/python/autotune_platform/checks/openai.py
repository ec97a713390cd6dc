"""Reading the grader JSON of OpenAI's evals and reinforcement fine-tuning.

``string_check``, ``text_similarity`` and ``multi`` keep their meaning; the names of graders are
labels there, and so they are here. Source: OpenAI's guide to graders and its API reference.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from autotune.protocol.builtin import (
    BuiltinConfiguration,
    GraderKey,
    Multi,
    SimilarityMetric,
    StringCheck,
    TextSimilarity,
)
from autotune.protocol.limits import MAX_MULTI_GRADERS
from autotune.protocol.types import UnitInterval, at_most
from autotune_platform.checks.faults import configuration_error
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.frozen_model import DEFERRED, FrozenModel

_SUPPORTED = "supported now are string_check, text_similarity and multi"
_UNSUPPORTED_TYPES = {
    "score_model": "register a score_model by itself, with kind rubric and a connectionId",
    "label_model": "register a label_model by itself, with kind rubric and a connectionId",
    "python": "code of a python grader is not run here; register a grader of kind http",
    "endpoint": "an endpoint grader is registered with kind http and its own protocol",
}
_UNSUPPORTED_METRICS = {
    "cosine": "cosine needs an embedding model",
    "meteor": "meteor needs a large word list",
}


class _OpenAiModel(FrozenModel):
    model_config = ConfigDict(extra="forbid")

    name: str = ""


class _StringCheck(_OpenAiModel):
    type: Literal["string_check"]
    input: str
    reference: str
    # OpenAI's guide writes neq, its API ne.
    operation: Literal["eq", "ne", "neq", "like", "ilike"]

    def builtin(self) -> StringCheck:
        same = self.model_dump(exclude={"name", "operation"})
        return StringCheck(**same, operation="ne" if self.operation == "neq" else self.operation)


class _TextSimilarity(_OpenAiModel):
    type: Literal["text_similarity"]
    input: str
    reference: str
    metric: SimilarityMetric = Field(alias="evaluation_metric")
    pass_threshold: UnitInterval | None = None

    def builtin(self) -> TextSimilarity:
        return TextSimilarity(**self.model_dump(exclude={"name"}))


_Single = Annotated[_StringCheck | _TextSimilarity, Field(discriminator="type")]


class _Multi(_OpenAiModel):
    type: Literal["multi"]
    graders: Annotated[
        dict[GraderKey, _Single],
        Field(min_length=1, max_length=MAX_MULTI_GRADERS),
        at_most(MAX_MULTI_GRADERS),
    ]
    calculate_output: str

    def builtin(self) -> Multi:
        return Multi(
            type="multi",
            graders={name: grader.builtin() for name, grader in self.graders.items()},
            calculate_output=self.calculate_output,
        )


_Grader = Annotated[_StringCheck | _TextSimilarity | _Multi, Field(discriminator="type")]
_grader: TypeAdapter[_Grader] = TypeAdapter(_Grader, config=DEFERRED)


def from_openai(document: Mapping[str, Any], *, field: str) -> BuiltinConfiguration:
    """Return the configuration that means what OpenAI's grader JSON means.

    Args:
        field: where the JSON stands, for errors.

    Raises:
        InvalidRequestError: it is none of OpenAI's, or of a type that is not supported.
    """
    _check_types(document, field)
    try:
        return _grader.validate_python(document).builtin()
    except ValidationError as error:
        raise _refusal(error, field) from error


def _check_types(document: Mapping[str, Any], field: str) -> None:
    kind, metric = document.get("type"), document.get("evaluation_metric")
    if isinstance(kind, str) and kind in _UNSUPPORTED_TYPES:
        raise configuration_error(f"{field}.type", f"{_UNSUPPORTED_TYPES[kind]}; {_SUPPORTED}")
    if isinstance(metric, str) and metric in _UNSUPPORTED_METRICS:
        raise configuration_error(
            f"{field}.evaluation_metric", f"{_UNSUPPORTED_METRICS[metric]}, which is not here"
        )
    graders = document.get("graders")
    if not isinstance(graders, dict):
        return
    for name, grader in graders.items():
        if isinstance(grader, dict):
            if grader.get("type") == "multi":
                raise configuration_error(f"{field}.graders.{name}.type", "no multi within a multi")
            _check_types(grader, f"{field}.graders.{name}")


def _refusal(error: ValidationError, field: str) -> InvalidRequestError:
    fault = error.errors(include_url=False)[0]
    # Pydantic puts the type of a grader into the path, where the document has none.
    tags = {"string_check", "text_similarity", "multi"}
    path = [str(part) for part in fault["loc"] if part not in tags]
    return configuration_error(".".join([field, *path]), fault["msg"])
