"""From a rubric grader's configuration to what its model is asked about a completion.

What comes of a completion travels in variables alone: the templates that are sent have names where
the configuration has places, and what is put in for a name is never looked through again.
"""

import json
from collections.abc import Mapping
from typing import Any

from autotune.protocol.limits import (
    MAX_BUILTIN_CONFIGURATION_BYTES,
    MAX_BUILTIN_TEXT_CHARACTERS,
    MAX_RUBRIC_PLACES,
)
from autotune.protocol.rubrics import (
    RubricAnswer,
    RubricConfiguration,
    RubricLevels,
    RubricScore,
)
from autotune_platform.checks.compiling import version_of
from autotune_platform.checks.faults import CompletionFaultError, configuration_error
from autotune_platform.checks.templates import Sample, Step, Template, as_text

ANSWER = "autotune_answer"
"""The variable that says how the answer is read; no text names it, so that it is not sent."""

_FORM = "autotune_form"


class Rubric:
    """A rubric grader's prompt, read once.

    Attributes:
        system: what is sent before the question, with names in it.
        user: the question, and at its end how it is to be answered.
    """

    def __init__(self, configuration: RubricConfiguration, *, field: str) -> None:
        """Read a configuration.

        Args:
            field: where it stands, for errors.

        Raises:
            InvalidRequestError: a template is none, or has too many places.
        """
        answer = configuration.answer
        assert not isinstance(answer, RubricLevels), "a rubric of levels is asked otherwise"
        assert configuration.user is not None, "all others have a prompt of their own"
        self.configuration = configuration
        self._answer = answer
        user = Template(configuration.user, field=f"{field}.user")
        system = (
            None
            if configuration.system is None
            else Template(configuration.system, field=f"{field}.system")
        )
        places = [*(system.places if system else ()), *user.places]
        self._names: dict[tuple[Step, ...], str] = {
            path: f"place_{number}" for number, path in enumerate(dict.fromkeys(places))
        }
        if len(self._names) > MAX_RUBRIC_PLACES:
            raise configuration_error(field, f"at most {MAX_RUBRIC_PLACES} different places")
        written = {path: f"{{{{{name}}}}}" for path, name in self._names.items()}
        self.system = system.named(written) if system else None
        self.user = f"{user.named(written)}\n\n{{{{{_FORM}}}}}"

    def variables(self, sample: Sample) -> dict[str, str]:
        """Return what is put in for a completion.

        Raises:
            CompletionFaultError: a place is missing or null, or the text is too long.
        """
        found = {name: as_text(sample.find(path)) for path, name in self._names.items()}
        if sum(map(len, found.values())) > MAX_BUILTIN_TEXT_CHARACTERS:
            raise CompletionFaultError("builtin_input_too_large")
        answer = self._answer.model_dump(mode="json", by_alias=True)
        return {**found, _FORM: self._form(), ANSWER: json.dumps(answer, ensure_ascii=False)}

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the answer, as strict structured outputs take it."""
        answer = self._answer
        text = {"type": "string"}
        step = _strict(description=text, conclusion=text)
        result: dict[str, Any] = (
            {"type": "number"}
            if isinstance(answer, RubricScore)
            else {"type": "string", "enum": answer.labels}
        )
        return _strict(steps={"type": "array", "items": step}, result=result)

    def _form(self) -> str:
        answer = self._answer
        result = (
            f"a number from {answer.minimum:g} to {answer.maximum:g}"
            if isinstance(answer, RubricScore)
            else "one of " + json.dumps(answer.labels, ensure_ascii=False)
        )
        return (
            "Answer with one JSON object and nothing else. It has two members: "
            '"steps", a list of objects with the texts "description" and "conclusion", and then '
            f'"result", {result}.'
        )


def check_rubric(configuration: RubricConfiguration, *, field: str) -> None:
    """Check a configuration before it is stored.

    Args:
        field: where it stands, for errors.

    Raises:
        InvalidRequestError: a template is none, it is too much together, or its calibration is of
            another version.
    """
    size = len(json.dumps(stored_rubric(configuration), separators=(",", ":")).encode())
    if size > MAX_BUILTIN_CONFIGURATION_BYTES:
        raise configuration_error(
            field, f"at most {MAX_BUILTIN_CONFIGURATION_BYTES} bytes as JSON, not {size}"
        )
    answer = configuration.answer
    if not isinstance(answer, RubricLevels):
        Rubric(configuration, field=field)
    elif answer.calibration is not None:
        version = rubric_version(configuration)
        if answer.calibration.grader_version != version:
            raise configuration_error(
                f"{field}.answer.calibration.graderVersion",
                f"{version}, the version of this configuration",
            )


def rubric_version(configuration: RubricConfiguration) -> str:
    """Return the version that a configuration is, whatever was measured of it."""
    return version_of(stored_rubric(uncalibrated(configuration)))


def uncalibrated(configuration: RubricConfiguration) -> RubricConfiguration:
    """Return a configuration without its calibration."""
    answer = configuration.answer
    if not isinstance(answer, RubricLevels) or answer.calibration is None:
        return configuration
    bare: RubricAnswer = answer.model_copy(update={"calibration": None})
    return configuration.model_copy(update={"answer": bare})


def stored_rubric(configuration: RubricConfiguration) -> dict[str, Any]:
    """Return a configuration as JSON."""
    return configuration.model_dump(mode="json", by_alias=True, exclude_none=True)


def _strict(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
