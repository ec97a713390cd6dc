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

from autotune.protocol.compact_json import compact_sorted
from autotune_platform.apprentice.students.calibrating import Calibration, calibrated
from autotune_platform.apprentice.students.errors import UntrainableError
from autotune_platform.apprentice.students.features import (
    Numbers,
    counted,
    counted_in_parts,
    packed,
)
from autotune_platform.apprentice.students.fitting import Design, Matrix, fit
from autotune_platform.apprentice.students.vocabulary import (
    Vocabulary,
    Weighed,
    joined,
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
MOST_MARGINS = 100_000_000
"""Rows times classes: what fitting takes, in time, and so does the next."""
MOST_PRODUCTS = 10_000_000_000
"""Known features of rows, times classes."""
MOST_FEATURES_OF_ROWS = 30_000_000
"""Known features, once for each row that has it: what fitting takes, in memory."""
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


@dataclass(frozen=True)
class _Rows:
    """What was read of rows; texts of inputs are the most of it.

    Attributes:
        inputs: each as ``features.packed``.
        is_held: whether confidence is fitted on it.
        classes: outputs as canonical JSON, sorted.
        of_rows: the class of each row.
    """

    inputs: Sequence[bytes]
    is_held: NDArray[np.bool_]
    classes: Sequence[str]
    of_rows: Numbers


def train(rows: Iterable[Row], settings: Settings | None = None) -> LinearModel:
    """Train a student; the same rows in the same order give the same one on the same machine.

    Whatever is not refused takes less than 2.5 GB: see ``benchmarks/linear_ceilings.py``.

    Raises:
        UntrainableError: there are too many rows or classes, fewer than two classes, or more to fit
            than there is time or memory for.
    """
    settings = settings or Settings()
    found = _read(rows)
    is_held, classes, of_rows = found.is_held, found.classes, found.of_rows
    most_characters = min(MOST_CHARACTERS, _LETTERS_IN_ALL // len(found.inputs))
    most_characters = max(_LEAST_CHARACTERS, most_characters)
    at_most = min(settings.features, MOST_WEIGHTS // len(classes))
    vocabulary, texts = _known(found.inputs, most_characters=most_characters, at_most=at_most)
    if len(texts.value) * len(classes) > MOST_PRODUCTS:
        raise UntrainableError(
            f"{len(texts.value)} features of inputs times {len(classes)} kinds of outputs are more "
            f"than {MOST_PRODUCTS}: there is no time for them"
        )
    del found  # texts of inputs, as fitting takes as much memory again
    weights, calibration, candidates = _fitted(texts, vocabulary, is_held, of_rows, settings)
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
    return compact_sorted(value)


def _read(rows: Iterable[Row]) -> _Rows:
    inputs: list[bytes] = []
    is_held: list[bool] = []
    number_of: dict[str, int] = {}
    numbers: list[int] = []
    for value, output in rows:
        if len(inputs) == MOST_EXAMPLES:
            raise UntrainableError(f"a linear student is trained on at most {MOST_EXAMPLES} rows")
        inputs.append(packed(value))
        is_held.append(_fold(value) == 0)
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
    if len(inputs) * len(number_of) > MOST_MARGINS:
        raise UntrainableError(
            f"{len(inputs)} rows times {len(number_of)} kinds of outputs are more than "
            f"{MOST_MARGINS}: there is no time for them"
        )
    classes = sorted(number_of)
    if len(json.dumps(classes)) > MOST_CLASS_BYTES:
        raise UntrainableError(f"different outputs have more than {MOST_CLASS_BYTES} bytes in all")
    place = {number_of[one]: index for index, one in enumerate(classes)}
    of_rows = np.array([place[number] for number in numbers], np.int64)
    return _Rows(inputs, np.array(is_held), classes, of_rows)


def _known(
    inputs: Sequence[bytes], *, most_characters: int, at_most: int
) -> tuple[Vocabulary, Weighed]:
    """Return a vocabulary, and what inputs have of it.

    Texts are hashed twice: which features are known shows when all of them were counted once, and
    to keep all until then takes several gigabytes.
    """
    vocabulary = vocabulary_of(
        (one.feature for one in counted_in_parts(inputs, most_characters=most_characters)),
        texts=len(inputs),
        at_most=at_most,
    )
    parts = (
        weighed(one, vocabulary, texts=len(inputs))
        for one in counted_in_parts(inputs, most_characters=most_characters)
    )
    texts = joined(parts, texts=len(inputs), at_most=MOST_FEATURES_OF_ROWS)
    if texts is None:
        raise UntrainableError(
            f"inputs have more than {MOST_FEATURES_OF_ROWS} features: there is no memory for them"
        )
    return vocabulary, texts


def _fitted(
    texts: Weighed,
    vocabulary: Vocabulary,
    is_held: NDArray[np.bool_],
    classes: Numbers,
    settings: Settings,
) -> tuple[Matrix, Calibration, list[float]]:
    columns, count = len(vocabulary.hashes), int(np.max(classes)) + 1
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
        del design  # before there is another
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
