"""A student as bytes: an ``.npz`` of five plain arrays, read without any of numpy's pickles.

It is read as what a stranger may have written: each member's place, type, shape and size are known
before an array is made of it, and no array has more numbers than there are bytes.
"""

import hashlib
import io
import json
import math
import struct
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autotune_platform.apprentice.students.calibrating import MOST_DOUBT, Calibration
from autotune_platform.apprentice.students.errors import BadArtifactError
from autotune_platform.apprentice.students.files import MOST_BYTES
from autotune_platform.apprentice.students.linear import (
    MOST_CHARACTERS,
    MOST_CLASS_BYTES,
    MOST_CLASSES,
    MOST_WEIGHTS,
    LinearModel,
)
from autotune_platform.apprentice.students.vocabulary import Vocabulary
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly

_FORMAT: Final = 1
_MOST_CANDIDATES = 1_000
_HEADER = 128
"""Bytes before the numbers of a member, as numpy writes them for small shapes."""
_DTYPES: Final[Mapping[str, np.dtype[Any]]] = {
    "hashes": np.dtype("<u8"),
    "idf": np.dtype("<f4"),
    "weights": np.dtype("<f2"),
    "classes": np.dtype("u1"),
    "about": np.dtype("u1"),
}


def to_bytes(model: LinearModel) -> bytes:
    """Return a student's artifact; the same student is always the same bytes."""
    about = {
        "candidates": list(model.candidates),
        "doubt": model.calibration.doubt,
        "format": _FORMAT,
        "mostCharacters": model.most_characters,
        "sharpness": model.calibration.sharpness,
    }
    arrays: dict[str, NDArray[Any]] = {
        "hashes": model.vocabulary.hashes,
        "idf": model.vocabulary.idf,
        "weights": model.weights,
        "classes": _text(list(model.classes)),
        "about": _text(about),
    }
    content = io.BytesIO()
    named: dict[str, Any] = {
        name: np.ascontiguousarray(arrays[name], dtype) for name, dtype in _DTYPES.items()
    }
    np.savez(content, allow_pickle=False, **named)
    return content.getvalue()


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of an artifact, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def from_bytes(content: bytes, *, digest: str | None = None) -> LinearModel:
    """Return the student of an artifact.

    Args:
        digest: what the artifact's SHA-256 has to be.

    Raises:
        BadArtifactError: it is another one, or none.
    """
    if len(content) > MOST_BYTES:
        raise BadArtifactError(f"an artifact has at most {MOST_BYTES} bytes")
    if digest is not None and digest_of(content) != digest:
        raise BadArtifactError("the artifact is not the one that was trained: its digest differs")
    try:
        arrays = _arrays(content)
        return _model(arrays)
    except (
        KeyError,
        NotImplementedError,
        SyntaxError,
        TooManyValuesError,
        TypeError,
        ValueError,
        struct.error,
        zipfile.BadZipFile,
    ) as error:
        raise BadArtifactError(f"the artifact is broken: {type(error).__name__}") from error


def _arrays(content: bytes) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if [one.filename for one in members] != [f"{name}.npy" for name in _DTYPES]:
            raise BadArtifactError("the artifact has other members than a student's")
        stored = all(
            one.compress_type == zipfile.ZIP_STORED and one.file_size == one.compress_size
            for one in members
        )
        # Members that share bytes would be more than there is.
        if not stored or sum(one.file_size for one in members) > len(content):
            raise BadArtifactError("the members of the artifact claim more than there is")
        return {
            name: _array(name, archive.read(member), dtype)
            for member, (name, dtype) in zip(members, _DTYPES.items(), strict=True)
        }


def _array(name: str, member: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    source = io.BytesIO(member)
    if np.lib.format.read_magic(source) != (1, 0):
        raise BadArtifactError(f"{name}: of an unknown form")
    shape, is_fortran, claimed = np.lib.format.read_array_header_1_0(
        source, max_header_size=_HEADER
    )
    rest = len(member) - source.tell()
    dimensions = 2 if name == "weights" else 1
    if claimed != dtype or is_fortran or len(shape) != dimensions:
        raise BadArtifactError(f"{name}: of another type than a student's")
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != rest:
        raise BadArtifactError(f"{name}: claims another size than it has")
    return np.frombuffer(member, dtype, offset=source.tell()).reshape(shape)


def _model(arrays: dict[str, NDArray[Any]]) -> LinearModel:
    hashes, idf, weights = arrays["hashes"], arrays["idf"], arrays["weights"]
    if len(hashes) != len(idf) or not bool((hashes[:-1] < hashes[1:]).all()):
        raise BadArtifactError("hashes: sorted, each once, with an idf each")
    if not bool(np.isfinite(idf).all() and (idf > 0).all()):
        raise BadArtifactError("idf: numbers above 0")
    classes = _classes(arrays["classes"].tobytes())
    if weights.shape != (len(hashes) + 1, len(classes)) or weights.size > 2 * MOST_WEIGHTS:
        raise BadArtifactError("weights: one for each feature and class")
    if not bool(np.isfinite(weights).all()):
        raise BadArtifactError("weights: numbers")
    about = parse_strictly(arrays["about"].tobytes(), most_values=_MOST_CANDIDATES + 10)
    most_characters, candidates = about["mostCharacters"], about["candidates"]
    if about["format"] != _FORMAT or type(most_characters) is not int:
        raise BadArtifactError("about: of an unknown format")
    if not 1 <= most_characters <= MOST_CHARACTERS:
        raise BadArtifactError(f"mostCharacters: 1 to {MOST_CHARACTERS}")
    if not isinstance(candidates, list):
        raise BadArtifactError("candidates: a list")
    return LinearModel(
        vocabulary=Vocabulary(hashes, idf),
        weights=weights,
        classes=classes,
        calibration=Calibration(
            _number(about, "sharpness", 1e-6, 1e6), _number(about, "doubt", 0, MOST_DOUBT)
        ),
        most_characters=most_characters,
        candidates=[_within("candidates", one, 0, 1) for one in candidates],
    )


def _classes(content: bytes) -> Sequence[str]:
    if len(content) > MOST_CLASS_BYTES:
        raise BadArtifactError("classes: more bytes than a student's")
    classes = parse_strictly(content, most_values=MOST_CLASSES + 1)
    if not isinstance(classes, list) or len(classes) < 2:
        raise BadArtifactError("classes: a list of two and more")
    if not all(isinstance(one, str) for one in classes):
        raise BadArtifactError("classes: texts")
    return tuple(classes)


def _number(about: dict[str, Any], name: str, least: float, most: float) -> float:
    return _within(name, about[name], least, most)


def _within(name: str, value: Any, least: float, most: float) -> float:
    if type(value) not in {int, float} or not least <= value <= most:
        raise BadArtifactError(f"{name}: numbers from {least} to {most}")
    return float(value)


def _text(value: Any) -> NDArray[np.uint8]:
    # ASCII, since an output may have half a character, which UTF-8 has not.
    return np.frombuffer(json.dumps(value, sort_keys=True).encode(), np.uint8)
