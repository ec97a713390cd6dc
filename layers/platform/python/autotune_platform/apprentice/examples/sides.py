"""On which side of a split an example is: it trains, or it validates.

The side follows from what was asked alone. Inputs that differ in case, width or spacing alone are a
group, and so are those that are alike in the fields that a task splits by: a group is on one side.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from autotune_platform.runtime.normal_texts import alike

Side = Literal["train", "holdout"]

MOST_FIELDS = 64
"""An input with more fields is on no side of a split by fields."""

_SIDE_BITS = 64
_DIGEST_BYTES = 16
_NAME_BYTES = 8
_MISSING = bytes(_DIGEST_BYTES)
_WHOLE_NUMBERS = 2**53


@dataclass(frozen=True)
class Split:
    """How a task's examples are split.

    Attributes:
        holdout: the share that validates, between 0 and 1.
        split_by: fields of the input that make a group, in any order; all of it without any.
    """

    holdout: float
    split_by: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Split":
        """Return what a configuration says; nothing validates where nothing is trained."""
        training = document.get("training")
        if not training:
            return cls(0.0)
        return cls(training["holdout"], tuple(sorted(training["splitBy"])))


@dataclass(frozen=True)
class Digests:
    """What is known of an input without its texts.

    Attributes:
        whole: 16 bytes of the whole input.
        fields: for each field, in the order of these: 8 bytes of its name, 16 of its value. None
            where the input has more than ``MOST_FIELDS``.
    """

    whole: bytes
    fields: bytes | None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> "Digests":
        """Return the digests of an input."""
        normal = {name: _normal(member) for name, member in value.items()}
        if len(normal) > MOST_FIELDS:
            return cls(_digest(normal), None)
        parts = (_name(name) + _digest(member) for name, member in normal.items())
        return cls(_digest(normal), b"".join(sorted(parts)))

    def group(self, split_by: Sequence[str]) -> bytes | None:
        """Return the group of an input: 16 bytes; None where it is on no side."""
        if not split_by:
            return self.whole
        if self.fields is None:
            return None
        size = _NAME_BYTES + _DIGEST_BYTES
        known = {
            self.fields[at : at + _NAME_BYTES]: self.fields[at + _NAME_BYTES : at + size]
            for at in range(0, len(self.fields), size)
        }
        parts = (_name(name) + known.get(_name(name), _MISSING) for name in sorted(split_by))
        return hashlib.sha256(b"".join(parts)).digest()[:_DIGEST_BYTES]

    def side(self, split: Split) -> Side | None:
        """Return the side of a split; None where the input is on neither."""
        group = self.group(split.split_by)
        if group is None:
            return None
        # Exact, so that a larger share keeps all of a smaller one.
        numerator, denominator = float(split.holdout).as_integer_ratio()
        place = int.from_bytes(group[: _SIDE_BITS // 8], "big")
        return "holdout" if place * denominator < numerator << _SIDE_BITS else "train"


def canonical(value: Any) -> str:
    """Return JSON as one text, without spaces and with its names in their order."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _normal(value: Any) -> Any:
    """Return JSON whose texts are as ``alike`` has them."""
    if isinstance(value, str):
        return alike(value)
    if isinstance(value, Mapping):
        return {name: _normal(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(member) for member in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_NUMBERS:
        return int(value)  # 1.0 is 1
    return value


def _digest(normal: Any) -> bytes:
    return hashlib.sha256(canonical(normal).encode()).digest()[:_DIGEST_BYTES]


def _name(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:_NAME_BYTES]
