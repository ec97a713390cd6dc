"""The linear student: classes of outputs, distinguished by words and runs of letters of the input.

A class is an output as canonical JSON, so a student answers only with what its teacher has
answered. Its confidence is a softmax over the margins of all classes, calibrated on a fifth of the
training rows before the weights have seen them.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune_platform.apprentice.students.calibrating import Calibration, calibrated
from autotune_platform.apprentice.students.errors import UntrainableError
from autotune_platform.apprentice.students.features import Numbers, counted
from autotune_platform.apprentice.students.fitting import Design, Matrix, fit
from autotune_platform.apprentice.students.vocabulary import (
    Vocabulary,
    Weighed,
    vocabulary_of,
    weighed,
)

MOST_EXAMPLES = 100_000
MOST_CLASSES = 2_000
MOST_CLASS_BYTES = 4_000_000
"""Of a list of all classes, as ASCII."""
MOST_WEIGHTS = 16_000_000
MOST_CHARACTERS = 10_000
"""Of an input that are looked at; less where the inputs are many and long."""
_LETTERS_IN_ALL = 30_000_000
_LEAST_CHARACTERS = 300
_FOLDS = 5
_CALIBRATING = 2_000
"""Most texts that confidence is fitted on."""

Row = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An input, and the output that is right for it."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a student is trained.

    Attributes:
        ridge: λ: how small weights are held.
        first_steps: of conjugate gradients, on all but the fold that confidence is fitted on.
        last_steps: on all rows, from there on.
        features: most features.
    """

    ridge: float = 1.5
    first_steps: int = 11
    last_steps: int = 5
    features: int = 131_072


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """A trained student; threads may share it.

    Attributes:
        vocabulary: features that it knows.
        weights: features, and the constant as the last row, by classes; half precision.
        classes: outputs as canonical JSON, sorted.
        calibration: what makes confidences of margins.
        most_characters: of an input that are looked at.
        candidates: confidences that share its answers evenly, falling: thresholds for a gate, known
            before any row of the hold-out was looked at. See ``gate.threshold``.
    """

    vocabulary: Vocabulary
    weights: np.ndarray[Any, np.dtype[np.float16]]
    classes: Sequence[str]
    calibration: Calibration
    most_characters: int
    candidates: Sequence[float]

    def answer(self, value: Mapping[str, Any]) -> tuple[str, float]:
        """Return the likeliest output as JSON, and how probable it is that the teacher's is it."""
        found = counted([value], most_characters=self.most_characters)
        known = weighed(found, self.vocabulary, texts=1)
        margins = known.value @ self.weights[known.column].astype(np.float32)
        margins += self.weights[-1].astype(np.float32)
        best = int(np.argmax(margins))
        return self.classes[best], self.calibration.of(margins)


def train(rows: Iterable[Row], settings: Settings | None = None) -> LinearModel:
    """Train a student; the same rows in the same order give the same one on the same machine.

    Raises:
        UntrainableError: there are too many rows or classes, or fewer than two classes.
    """
    settings = settings or Settings()
    inputs, classes, of_rows = _read(rows)
    most_characters = min(MOST_CHARACTERS, _LETTERS_IN_ALL // len(inputs))
    most_characters = max(_LEAST_CHARACTERS, most_characters)
    found = counted(inputs, most_characters=most_characters)
    at_most = min(settings.features, MOST_WEIGHTS // len(classes))
    vocabulary = vocabulary_of(found, texts=len(inputs), at_most=at_most)
    texts = weighed(found, vocabulary, texts=len(inputs))
    weights, calibration, candidates = _fitted(texts, vocabulary, inputs, of_rows, settings)
    return LinearModel(
        vocabulary=vocabulary,
        weights=weights.astype(np.float16),
        classes=classes,
        calibration=calibration,
        most_characters=most_characters,
        candidates=candidates,
    )


def canonical(value: Mapping[str, Any]) -> str:
    """Return JSON that is the same for all ways to write the same object."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _read(rows: Iterable[Row]) -> tuple[list[Mapping[str, Any]], list[str], Numbers]:
    inputs: list[Mapping[str, Any]] = []
    number_of: dict[str, int] = {}
    numbers: list[int] = []
    for value, output in rows:
        if len(inputs) == MOST_EXAMPLES:
            raise UntrainableError(f"a linear student is trained on at most {MOST_EXAMPLES} rows")
        inputs.append(value)
        numbers.append(number_of.setdefault(canonical(output), len(number_of)))
        if len(number_of) > MOST_CLASSES:
            raise UntrainableError(
                f"outputs are of more than {MOST_CLASSES} kinds; a linear student chooses among "
                "those that it has seen, so it suits outputs of a few fields with few values each"
            )
    if len(number_of) < 2:
        raise UntrainableError(
            f"outputs of {len(inputs)} rows are of {len(number_of)} kinds; it takes 2 at least"
        )
    classes = sorted(number_of)
    if len(json.dumps(classes)) > MOST_CLASS_BYTES:
        raise UntrainableError(f"different outputs have more than {MOST_CLASS_BYTES} bytes in all")
    place = {number_of[one]: index for index, one in enumerate(classes)}
    return inputs, classes, np.array([place[number] for number in numbers], np.int64)


def _fitted(
    texts: Weighed,
    vocabulary: Vocabulary,
    inputs: Sequence[Mapping[str, Any]],
    classes: Numbers,
    settings: Settings,
) -> tuple[Matrix, Calibration, list[float]]:
    columns, count = len(vocabulary.hashes), int(np.max(classes)) + 1
    is_held = np.array([_fold(value) == 0 for value in inputs])
    held, seen = np.flatnonzero(is_held)[:_CALIBRATING], np.flatnonzero(~is_held)
    first = None
    calibration, candidates = Calibration(), [0.0]
    if len(seen) and len(held):
        design = Design(texts.only(seen), columns=columns)
        first = fit(
            design, classes[seen], count=count, ridge=settings.ridge, steps=settings.first_steps
        )
        margins, order = Design(texts.only(held), columns=columns).margins(first)
        calibration = calibrated(margins, classes[held][order])
        candidates = _candidates(calibration.of_rows(margins))
    weights = fit(
        Design(texts, columns=columns),
        classes,
        count=count,
        ridge=settings.ridge,
        steps=settings.last_steps,
        start=first,
    )
    return weights, calibration, candidates


def _candidates(confidences: NDArray[np.float64]) -> list[float]:
    quantiles = np.quantile(confidences, np.arange(19, 0, -1) / 20)
    return [*sorted({float(one) for one in quantiles}, reverse=True), 0.0]


def _fold(value: Mapping[str, Any]) -> int:
    # Repeats of an input are on one side, else confidence would be that of having seen the answer.
    words = " ".join(canonical(value).casefold().split())
    return hashlib.sha256(words.encode(errors="surrogatepass")).digest()[0] % _FOLDS
