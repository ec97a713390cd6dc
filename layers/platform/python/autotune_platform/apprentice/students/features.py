"""Features of texts: words, pairs of words and runs of letters, each by its hash.

Many texts are hashed together, by numpy: a hash of a run of letters is a sum of products that wraps
around, so that a text takes time in proportion to its length, whatever it says.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.protocol.compact_json import compact

_PIECES = re.compile(r"\w+|[^\w\s]")
_LETTERS = 3
"""Of a run; longer and shorter ones besides changed nothing on the intents of CLINC150."""
_BLANK = 32
_BASE = 0x5851F42D4C957F2D
_INVERSE = pow(_BASE, -1, 2**64)
_KINDS = {"word": 0x9E3779B97F4A7C15, "pair": 0xBF58476D1CE4E5B9, "run": 0x94D049BB133111EB}
_OF_WORDS, _OF_LETTERS = 0, 1
_CHARACTERS_AT_ONCE = 1_000_000
"""Of inputs that are hashed together: a character takes some 300 bytes meanwhile."""

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Places = NDArray[np.int32]
Values = NDArray[np.float32]


@dataclass(frozen=True)
class Counted:
    """How often each text has each feature; ordered by text, then by hash.

    Attributes:
        text: index of the text.
        feature: hash of the feature.
        times: how often it is there.
        kind: 0 for words and pairs of words, 1 for runs of letters.
    """

    text: Numbers
    feature: Hashes
    times: Numbers
    kind: NDArray[np.int8]


def counted(inputs: Sequence[Mapping[str, Any]], *, most_characters: int) -> Counted:
    """Return the features of inputs.

    A feature belongs to a property of the input: the same word in another one is another feature.

    Args:
        inputs: JSON objects. A text is taken as it is, another value as compact JSON.
        most_characters: of each input that are looked at, over its properties in their order.
    """
    pieces, texts, seeds = _pieces(inputs, most_characters)
    letters = np.frombuffer("".join(pieces).encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.array([len(piece) for piece in pieces], np.int64)
    part = np.repeat(np.arange(len(pieces)), lengths)
    is_blank = letters == _BLANK
    codes = letters.astype(np.uint64) + np.uint64(1)
    of_words, words, of_pairs, pairs = _words(codes, is_blank, part, seeds)
    of_runs, runs = _runs(codes, is_blank, part, seeds)
    parts = np.concatenate([of_words, of_pairs, of_runs])
    text = np.array(texts, np.int64)[parts]
    kinds = [_OF_WORDS] * 2 + [_OF_LETTERS]
    sizes = [len(words), len(pairs), len(runs)]
    kind = np.repeat(np.array(kinds, np.int8), sizes)
    return _together(text, np.concatenate([words, pairs, runs]), kind)


def counted_in_parts(inputs: Sequence[bytes], *, most_characters: int) -> Iterator[Counted]:
    """Yield what ``counted`` returns, some texts at a time, so that memory is bounded.

    Args:
        inputs: of ``packed``.
        most_characters: of each input that are looked at.
    """
    at_once = max(1, _CHARACTERS_AT_ONCE // most_characters)
    for start in range(0, len(inputs), at_once):
        some = [unpacked(one) for one in inputs[start : start + at_once]]
        found = counted(some, most_characters=most_characters)
        yield replace(found, text=found.text + start)


def packed(value: Mapping[str, Any]) -> bytes:
    """Return an input as bytes, which take a fraction of the memory of its objects."""
    text = compact(value)
    return text.encode("utf-8", "surrogatepass")


def unpacked(content: bytes) -> Mapping[str, Any]:
    """Return the input that was packed."""
    value: Mapping[str, Any] = json.loads(content.decode("utf-8", "surrogatepass"))
    return value


def _together(text: Numbers, feature: Hashes, kind: NDArray[np.int8]) -> Counted:
    # Sorting numbers is ten times as fast as sorting by two keys.
    by_text = text.astype(np.uint64) << np.uint64(40)
    known, index = np.unique(feature, return_inverse=True)
    kind_of = np.zeros(len(known), np.int8)
    kind_of[index] = kind
    both, times = np.unique(by_text + index.astype(np.uint64), return_counts=True)
    index = (both & np.uint64(2**40 - 1)).astype(np.int64)
    return Counted(
        text=(both >> np.uint64(40)).astype(np.int64),
        feature=known[index],
        times=times.astype(np.int64),
        kind=kind_of[index],
    )


def _pieces(
    inputs: Sequence[Mapping[str, Any]], most_characters: int
) -> tuple[list[str], list[int], Hashes]:
    pieces, texts, seeds = [], [], []
    known: dict[str, int] = {}
    for number, value in enumerate(inputs):
        left = most_characters
        for name in sorted(value):
            member = value[name]
            is_text = isinstance(member, str)
            said = member if is_text else json.dumps(member, sort_keys=True, ensure_ascii=False)
            said = said[:left]
            left -= len(said)
            words = _PIECES.findall(said.casefold())
            if not words:  # nor any feature, however many such properties there are
                continue
            pieces.append(f" {' '.join(words)} ")
            texts.append(number)
            if name not in known:
                known[name] = _seed(name)
            seeds.append(known[name])
    return pieces, texts, np.array(seeds, np.uint64)


def _seed(name: str) -> int:
    seed = 0
    for code in name.encode("utf-8", "surrogatepass"):
        seed = (seed * _BASE + code + 1) % 2**64
    return seed


def _words(
    codes: Hashes, is_blank: NDArray[np.bool_], part: Numbers, seeds: Hashes
) -> tuple[Numbers, Hashes, Numbers, Hashes]:
    if not len(codes):
        nothing, no_hashes = np.zeros(0, np.int64), np.zeros(0, np.uint64)
        return nothing, no_hashes, nothing, no_hashes
    # Sums of letters times powers up to each place; what is between two, divided by the power of
    # the first, is the hash of a word wherever it stands.
    powers, inverses = _powers(_BASE, len(codes)), _powers(_INVERSE, len(codes))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(codes * powers, dtype=np.uint64)])
    starts = np.flatnonzero(~is_blank & np.concatenate([[True], is_blank[:-1]]))
    ends = np.flatnonzero(~is_blank & np.concatenate([is_blank[1:], [True]])) + 1
    bare = _mixed((sums[ends] - sums[starts]) * inverses[starts])
    of = part[starts]
    words = _mixed(bare ^ _of_kind("word", seeds[of]))
    is_pair = of[:-1] == of[1:]
    first, second = bare[:-1][is_pair], bare[1:][is_pair]
    of_pairs = of[:-1][is_pair]
    pairs = _mixed((first * np.uint64(_BASE) + second) ^ _of_kind("pair", seeds[of_pairs]))
    return of, words, of_pairs, pairs


def _runs(
    codes: Hashes, is_blank: NDArray[np.bool_], part: Numbers, seeds: Hashes
) -> tuple[Numbers, Hashes]:
    count = max(0, len(codes) - _LETTERS + 1)
    hashes = np.zeros(count, np.uint64)
    is_one = part[:count] == part[len(part) - count :]
    for place in range(_LETTERS):
        hashes = hashes * np.uint64(_BASE) + codes[place : place + count]
        if 0 < place < _LETTERS - 1:
            is_one &= ~is_blank[place : place + count]
    of = part[:count][is_one]
    return of, _mixed(hashes[is_one] ^ _of_kind("run", seeds[of]))


def _powers(base: int, count: int) -> Hashes:
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _of_kind(kind: str, seeds: Hashes) -> Hashes:
    return _mixed(seeds + np.full(1, _KINDS[kind], np.uint64))


def _mixed(hashes: Hashes) -> Hashes:
    # The end of MurmurHash3, 64 bits: each bit of what goes in changes half of those that come out.
    hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return hashes ^ (hashes >> np.uint64(33))
