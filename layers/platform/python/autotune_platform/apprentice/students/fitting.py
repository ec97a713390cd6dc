"""Fitting: for each class a linear support vector machine with squared hinge loss.

This is LIBLINEAR's loss of ``-s 2`` (Fan et al., 2008): λ/2 |w|² + ½ Σ max(0, 1 - y w·x)², one
class against the rest. It is minimised by preconditioned conjugate gradients (Polak and Ribière,
never below 0), with a search along each direction. Classes do not depend on each other, so they are
fitted in blocks, which bounds memory. Columns that many texts have are a dense matrix; the rest is
multiplied by jagged diagonals (Saad, "Iterative Methods for Sparse Linear Systems", 2003, section
3.4), since numpy has no sparse matrices.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune_platform.apprentice.students.features import Numbers, Places, Values
from autotune_platform.apprentice.students.vocabulary import Weighed

_DENSE_COLUMNS = 512
_DENSE_CELLS = 64_000_000
_BLOCK_CELLS = 4_000_000
_SEARCHES = 2
_LEAST = 1e-12

Matrix = NDArray[np.float32]


class _Jagged:
    """A sparse matrix whose rows have fewer and fewer cells, from the first on."""

    def __init__(self, row: Places, column: Places, value: Values, rows: int) -> None:
        self.rows = rows
        lengths = np.bincount(row, minlength=rows)
        within = np.arange(len(row), dtype=np.int32)
        within -= np.repeat((np.cumsum(lengths) - lengths).astype(np.int32), lengths)
        ends: list[int] = np.cumsum(np.bincount(within)).tolist() if len(row) else []
        order = np.argsort(row, kind="stable").astype(np.int32)
        order = order[np.argsort(within, kind="stable")]
        columns, values = column[order], value[order]
        starts = [0, *ends]
        self._diagonals = [
            (columns[start:end], values[start:end, None])
            for start, end in zip(starts, ends, strict=False)
        ]

    def times(self, matrix: Matrix) -> Matrix:
        result = np.zeros((self.rows, matrix.shape[1]), np.float32)
        for columns, values in self._diagonals:
            product = matrix.take(columns, axis=0)
            product *= values
            result[: len(columns)] += product
        return result


class Design:
    """Texts by features, ready to be multiplied.

    Attributes:
        order: index of the text that each row is.
        columns: how many there are, with one for the constant, which is the last.
    """

    def __init__(self, texts: Weighed, *, columns: int) -> None:
        having = np.bincount(texts.column, minlength=columns)
        most = max(1, min(_DENSE_COLUMNS, _DENSE_CELLS // max(1, texts.texts)))
        by_frequency = np.argsort(-having, kind="stable")
        self._dense, self._sparse = by_frequency[:most], by_frequency[most:]
        place = np.empty(columns, np.int32)
        place[by_frequency] = np.arange(columns, dtype=np.int32)
        at = place[texts.column]
        is_sparse = at >= most
        lengths = np.bincount(texts.text[is_sparse], minlength=texts.texts)
        self.order = np.argsort(-lengths, kind="stable")
        row_of = np.empty(texts.texts, np.int32)
        row_of[self.order] = np.arange(texts.texts, dtype=np.int32)
        row = row_of[texts.text]
        self.columns = columns + 1
        dense = np.zeros((texts.texts, len(self._dense) + 1), np.float32)
        dense[row[~is_sparse], at[~is_sparse]] = texts.value[~is_sparse]
        dense[:, -1] = 1
        self._of_dense = dense
        rows, found, values = row[is_sparse], at[is_sparse], texts.value[is_sparse]
        found -= np.int32(most)
        del row, at, is_sparse
        self._rows = _Jagged(rows, found, values, texts.texts)
        self._columns = _Jagged(found, rows, values, len(self._sparse))
        self._squares = np.bincount(found, values * values, minlength=len(self._sparse))

    def forward(self, weights: Matrix) -> Matrix:
        """Return rows times weights; weights are in this matrix's own order of columns."""
        split = self._of_dense.shape[1]
        return self._of_dense @ weights[:split] + self._rows.times(weights[split:])

    def backward(self, rows: Matrix) -> Matrix:
        """Return columns times rows."""
        return np.concatenate([self._of_dense.T @ rows, self._columns.times(rows)])

    def margins(self, weights: Matrix) -> tuple[Matrix, Numbers]:
        """Return margins of texts by classes, and which text each row is."""
        return self.forward(self.from_vocabulary(weights)), self.order

    def preconditioner(self, ridge: float) -> "Preconditioner":
        """Return what solves for the dense part exactly, and for the rest by its diagonal."""
        gram = self._of_dense.T @ self._of_dense
        gram[np.diag_indices_from(gram)] += ridge
        return Preconditioner(np.linalg.inv(gram), (1 / (self._squares + ridge)).astype(np.float32))

    def in_vocabulary(self, weights: Matrix) -> Matrix:
        """Return weights by column of the vocabulary, with the constant's at the end."""
        split = len(self._dense)
        result = np.empty_like(weights)
        result[self._dense], result[self._sparse] = weights[:split], weights[split + 1 :]
        result[-1] = weights[split]
        return result

    def from_vocabulary(self, weights: Matrix) -> Matrix:
        """Return weights in this matrix's own order."""
        return np.concatenate([weights[self._dense], weights[-1:], weights[self._sparse]])


@dataclass(frozen=True)
class Preconditioner:
    """The inverse of one block, and the inverse diagonal of the other."""

    block: Matrix
    diagonal: Values

    def __call__(self, gradient: Matrix) -> Matrix:
        """Return the gradient, with its directions about equally steep."""
        split = len(self.block)
        rest = gradient[split:] * self.diagonal[:, None]
        return np.concatenate([self.block @ gradient[:split], rest])


def fit(
    design: Design,
    classes: Numbers,
    *,
    count: int,
    ridge: float,
    steps: int,
    start: Matrix | None = None,
) -> Matrix:
    """Return weights, columns of the vocabulary and the constant by classes.

    Args:
        classes: of each text, 0 to count - 1.
        ridge: λ.
        steps: of conjugate gradients. Few of them also hold the weights small.
        start: weights to begin with, in the same form.
    """
    precondition = design.preconditioner(ridge)
    of_rows = classes[design.order]
    block = max(1, _BLOCK_CELLS // max(len(classes), design.columns))
    fitted = np.empty((design.columns, count), np.float32)
    for first in range(0, count, block):
        some = np.arange(first, min(first + block, count))
        signs = np.where(of_rows[:, None] == some[None, :], np.float32(1), np.float32(-1))
        begun = None if start is None else design.from_vocabulary(start[:, some])
        weights = _descend(design, precondition, signs, ridge=ridge, steps=steps, start=begun)
        fitted[:, some] = design.in_vocabulary(weights)
    return fitted


def _descend(
    design: Design,
    precondition: Preconditioner,
    signs: Matrix,
    *,
    ridge: float,
    steps: int,
    start: Matrix | None,
) -> Matrix:
    weights = np.zeros((design.columns, signs.shape[1]), np.float32) if start is None else start
    margins = np.zeros_like(signs) if start is None else signs * design.forward(weights)
    direction = before = np.zeros_like(weights)
    steepness: Values | None = None
    for _ in range(steps):
        short = np.maximum(1 - margins, 0)
        short *= signs
        gradient = design.backward(short)
        gradient *= -1
        gradient += np.float32(ridge) * weights
        steep = precondition(gradient)
        slope = _by_class(gradient, steep)
        if steepness is None:
            direction = -steep
        else:
            turn = (slope - _by_class(before, steep)) / np.maximum(steepness, _LEAST)
            direction *= np.maximum(turn, 0)
            direction -= steep
        before, steepness = gradient, slope
        moved = design.forward(direction)
        moved *= signs
        length = _search(weights, direction, margins, moved, ridge)
        weights += length * direction
        margins += length * moved
    return weights


def _search(
    weights: Matrix, direction: Matrix, margins: Matrix, moved: Matrix, ridge: float
) -> Values:
    """Return how far to go along each class's direction: Newton's steps on pieces of parabolas."""
    along, square = _by_class(weights, direction), _by_class(direction, direction)
    length: Values = np.zeros(moved.shape[1], np.float32)
    for _ in range(_SEARCHES):
        short = length * moved
        short += margins
        np.subtract(1, short, out=short)
        np.maximum(short, 0, out=short)
        falls = _by_class(short, moved) - ridge * (along + length * square)
        np.sign(short, out=short)  # 1 where a margin is short
        short *= moved
        bends = _by_class(short, moved) + ridge * square
        length += falls / np.maximum(bends, np.float32(_LEAST))
    return length


def _by_class(one: Matrix, other: Matrix) -> Values:
    products: Values = np.einsum("ij,ij->j", one, other)
    return products
