"""Asking the function that compares texts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from autotune_platform.apprentice.local.exchanging import NoAnswerError, parsed
from autotune_platform.outbound.connections import time_limit
from autotune_platform.runtime.functions import FunctionRefusedError, Functions
from autotune_platform.runtime.parts import part

ASK_SECONDS: Final = 15
"""How long one call may take: at first the function reads its model."""
MOST_PAIRS: Final = 64
_MOST_BYTES = 3_000_000
"""Of a call's texts as JSON; Lambda takes six million."""
_ATTEMPTS = 2
_PASSING = frozenset({"TooManyRequestsException", "ResourceNotReadyException", "ServiceException"})
Pair = tuple[str, str]


class NoSimilarityError(Exception):
    """Nothing compared the texts.

    Attributes:
        is_gone: whether there is no such model, so that nothing ever will.
    """

    def __init__(self, why: str, *, is_gone: bool = False) -> None:
        super().__init__(why)
        self.is_gone = is_gone


@part
class SimilarityInvocations:
    """Asks it.

    Attributes:
        function: its name.
    """

    functions: Functions
    function: str

    def cosines(self, model: str, pairs: Sequence[Pair]) -> list[float | None]:
        """Return how alike the texts of each pair are, from 0 to 1.

        Returns:
            For each pair its cosine; None where the second text has nothing that the model knows.

        Raises:
            NoSimilarityError: there is no answer.
        """
        found: list[float | None] = []
        for some in _batches(pairs):
            answer = self._asked({"model": model, "pairs": some})
            cosines = answer.get("cosines")
            if "refused" in answer:
                raise NoSimilarityError(f"it has no such model: {answer['refused']}", is_gone=True)
            if not _are_cosines(cosines, len(some)):
                raise NoSimilarityError("its answer is none")
            found.extend(cosines or ())
        return found

    def _asked(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        why = ""
        for _ in range(_ATTEMPTS):
            try:
                with time_limit(ASK_SECONDS):
                    answer = parsed(self.functions.ask(self.function, event))
            except FunctionRefusedError as error:
                why = error.code
                if error.code not in _PASSING:
                    break
            except NoAnswerError as error:
                why = error.reason
            else:
                if isinstance(answer, Mapping):
                    return answer
                why = "its answer is none"
        raise NoSimilarityError(why)


def _batches(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    batch: list[Pair] = []
    size = 0
    for pair in pairs:
        of_pair = sum(len(json.dumps(text)) for text in pair)
        if batch and (len(batch) == MOST_PAIRS or size + of_pair > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += of_pair
    if batch:
        yield batch


def _are_cosines(values: Any, count: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == count
        and all(one is None or (type(one) in {int, float} and 0 <= one <= 1) for one in values)
    )
