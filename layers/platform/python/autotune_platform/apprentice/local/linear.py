"""Linear students, asked at the function that hosts them."""

from collections.abc import Mapping
from typing import Any

from autotune_platform.apprentice.local.contract import LocalQuestion, Reason, ServedModel
from autotune_platform.apprentice.local.exchanging import NoAnswerError, parsed
from autotune_platform.runtime.functions import FunctionRefusedError, Functions
from autotune_platform.runtime.parts import part

# Of Lambda's Invoke, version 2015-03-31 of the API.
_REASONS = {
    "TooManyRequestsException": Reason.BUSY,
    "ResourceNotReadyException": Reason.NOT_READY,
    "RequestTooLargeException": Reason.REFUSED,
    "AccessDeniedException": Reason.REFUSED,
}


@part
class StudentInvocations:
    """Asks the function that hosts linear students.

    Attributes:
        function: its name.
    """

    functions: Functions
    function: str

    def __call__(
        self, served: ServedModel, question: LocalQuestion
    ) -> tuple[str, str, float | None]:
        """Return text, name of the model, and confidence of an answer.

        Raises:
            NoAnswerError: there is none.
        """
        if served.digest is None:
            raise NoAnswerError(Reason.NO_MODEL, "the version has no artifact")
        event = {"model": served.model, "digest": served.digest, "input": dict(question.input)}
        try:
            answer = parsed(self.functions.ask(self.function, event))
        except FunctionRefusedError as error:
            reason = _REASONS.get(error.code, Reason.FAILED)
            raise NoAnswerError(reason, f"its function has no answer: {error.code}") from error
        return _read(answer)


def _read(answer: Any) -> tuple[str, str, float | None]:
    if not isinstance(answer, Mapping):
        raise _unreadable()
    refused = answer.get("refused")
    if refused in (Reason.NO_MODEL, Reason.ANOTHER_VERSION):
        raise NoAnswerError(Reason(refused), "its artifact is gone, or is not what was trained")
    text, model, confidence = answer.get("text"), answer.get("model"), answer.get("confidence")
    if not isinstance(text, str) or not isinstance(model, str):
        raise _unreadable()
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise _unreadable()
    if not 0 <= confidence <= 1:
        raise _unreadable()
    return text, model, float(confidence)


def _unreadable() -> NoAnswerError:
    return NoAnswerError(Reason.UNREADABLE, "its answer is none of a linear student")
