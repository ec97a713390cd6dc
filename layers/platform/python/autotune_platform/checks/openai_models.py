"""Reading the grader JSON of OpenAI's that asks a language model: ``score_model``, ``label_model``.

Source: OpenAI's guide to graders, and the types of its Python package. A prompt here is one message
of instructions and one question: several of either become one, and an assistant's turn is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from autotune.protocol.limits import MAX_RUBRIC_LABELS
from autotune.protocol.rubrics import RubricConfiguration
from autotune.protocol.types import at_most
from autotune_platform.checks.faults import configuration_error
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.frozen_model import DEFERRED, FrozenModel

MODEL_GRADERS = frozenset({"score_model", "label_model"})

USUAL_MAX_TOKENS = 2_048
"""Most tokens of an answer where nobody says: steps and a result, or some reasoning before."""

_MOST_MESSAGES = 20
_PLAIN_TEXTS = frozenset({"input_text", "output_text", "text"})


class _OpenAiModel(FrozenModel):
    model_config = ConfigDict(extra="forbid")


class _Message(_OpenAiModel):
    role: Literal["user", "assistant", "system", "developer"]
    content: Any
    type: Literal["message"] = "message"


class _Sampling(_OpenAiModel):
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    max_completions_tokens: int | None = None
    # The guide's examples have this name too.
    max_completion_tokens: int | None = None


class _Model(_OpenAiModel):
    # What the API returns of a grader that belongs to an eval.
    id: str = ""
    name: str = ""
    model: str
    input: Annotated[
        list[_Message], Field(min_length=1, max_length=_MOST_MESSAGES), at_most(_MOST_MESSAGES)
    ]
    sampling_params: _Sampling | None = None


class _ScoreModel(_Model):
    type: Literal["score_model"]
    range: tuple[float, float] | None = None
    pass_threshold: float | None = None

    @property
    def answer(self) -> dict[str, Any]:
        least, most = self.range or (0.0, 1.0)
        said = {"type": "score", "minimum": least, "maximum": most}
        threshold = self.pass_threshold
        return said if threshold is None else {**said, "passThreshold": threshold}


class _LabelModel(_Model):
    type: Literal["label_model"]
    labels: Annotated[list[str], at_most(MAX_RUBRIC_LABELS)]
    passing_labels: Annotated[list[str], at_most(MAX_RUBRIC_LABELS)]

    @property
    def answer(self) -> dict[str, Any]:
        return {"type": "label", "labels": self.labels, "passingLabels": self.passing_labels}


_grader: TypeAdapter[_ScoreModel | _LabelModel] = TypeAdapter(
    Annotated[_ScoreModel | _LabelModel, Field(discriminator="type")], config=DEFERRED
)


def rubric_from_openai(
    document: Mapping[str, Any], *, connection_id: str, max_tokens: int | None, field: str
) -> RubricConfiguration:
    """Return the configuration that means what OpenAI's grader JSON means.

    Args:
        connection_id: where the model is to be called.
        max_tokens: of an answer; without it what the JSON says, and ``USUAL_MAX_TOKENS`` without.
        field: where the JSON stands, for errors.

    Raises:
        InvalidRequestError: it is none of OpenAI's that asks a model, or of more than texts.
    """
    if document.get("type") not in MODEL_GRADERS:
        raise configuration_error(
            f"{field}.type", "score_model or label_model, for a grader of kind rubric"
        )
    try:
        grader = _grader.validate_python(document)
    except ValidationError as error:
        raise _refusal(error, field) from error
    system, user = _prompt(grader.input, f"{field}.input")
    sampling = grader.sampling_params or _Sampling()
    asked = max_tokens or sampling.max_completions_tokens or sampling.max_completion_tokens
    params: dict[str, Any] = {
        **sampling.model_dump(include={"temperature", "top_p", "seed"}, exclude_none=True),
        "max_tokens": asked or USUAL_MAX_TOKENS,
    }
    if sampling.reasoning_effort is not None:
        params["extra"] = {"reasoning_effort": sampling.reasoning_effort}
    configuration = {
        "connection_id": connection_id,
        "model": grader.model,
        "system": system,
        "user": user,
        "answer": grader.answer,
        "params": params,
    }
    try:
        return RubricConfiguration.model_validate(configuration)
    except ValidationError as error:
        raise _refusal(error, field) from error


def _prompt(messages: Sequence[_Message], field: str) -> tuple[str | None, str]:
    """Return instructions and question: where all are instructions, they are the question."""
    instructions: list[str] = []
    questions: list[str] = []
    for place, message in enumerate(messages):
        where = f"{field}.{place}"
        text = _text(message.content, f"{where}.content")
        if message.role == "assistant":
            raise configuration_error(
                f"{where}.role", "user, system or developer: one question, one answer"
            )
        if message.role == "user":
            questions.append(text)
        elif questions:
            raise configuration_error(f"{where}.role", "instructions before the question")
        else:
            instructions.append(text)
    if not questions:
        return None, "\n\n".join(instructions)
    return "\n\n".join(instructions) or None, "\n\n".join(questions)


def _text(content: Any, field: str) -> str:
    """Return a message's text, of one part or several."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type") in _PLAIN_TEXTS:
            texts.append(str(part.get("text", "")))
        else:
            raise configuration_error(field, "text: images and sounds are not judged here")
    return "\n\n".join(texts)


def _refusal(error: ValidationError, field: str) -> InvalidRequestError:
    fault = error.errors(include_url=False)[0]
    # Pydantic puts the type of a grader into the path, where the document has none.
    path = [str(one) for one in fault["loc"] if one not in {*MODEL_GRADERS, "score", "label"}]
    return configuration_error(".".join([field, *path]), fault["msg"])
