"""Reward URLs and the questions that trainers send to them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from autotune.protocol.completions import NewCompletion
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune.protocol.types import METADATA_TOO_LARGE
from autotune_platform.access.capabilities import Capability
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.tasks.models import Task


class RewardUrl(Capability):
    """An address that scores one model's completions for one task; revoked ones are kept."""

    task_id: str
    model_id: str


@dataclass(frozen=True)
class Question:
    """One completion that a trainer wants a reward for.

    Attributes:
        field: the path in the request, of the completion or of its response, for error messages.
        prompt_field: the path of its prompt.
        metadata_field: the path of most of its metadata.
    """

    prompt: str
    response: str
    metadata: Mapping[str, Any]
    field: str
    prompt_field: str
    metadata_field: str

    def fingerprint(self, task: Task, model_id: str) -> str:
        """Return the question's fingerprint, 64 hexadecimal digits.

        Equal questions have equal fingerprints. A fingerprint changes with every update of
        the task, because the task's graders may have changed.
        """
        asked = [
            task.organization_id,
            task.id,
            task.updated_at.isoformat(),
            model_id,
            self.prompt,
            self.response,
            self.metadata,
        ]
        document = json.dumps(asked, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(document.encode()).hexdigest()

    def completion(self, task: Task, model_id: str) -> NewCompletion:
        """Return the completion that is submitted for the question.

        Raises:
            InvalidRequestError: it is over a limit of completions, or has text that cannot be
                stored.
        """
        try:
            return NewCompletion(
                task_id=task.id,
                model_id=model_id,
                prompt=self.prompt,
                response=self.response,
                metadata=dict(self.metadata),
            )
        except ValidationError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: ValidationError) -> InvalidRequestError:
        fault = error.errors(include_url=False, include_input=False)[0]
        fields = {"prompt": self.prompt_field, "metadata": self.metadata_field}
        field = fields.get(str(fault["loc"][0]), self.field)
        expected = fault["msg"].removeprefix("Value error, ")
        limit = None
        if fault["type"] == METADATA_TOO_LARGE:
            limit = LimitProblem(name="metadata", unit="bytes", **fault["ctx"])
        return InvalidRequestError(
            f"{field}: {expected}",
            fields=[FieldProblem(field=field, expected=expected)],
            limit=limit,
        )
