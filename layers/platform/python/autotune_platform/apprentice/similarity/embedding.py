"""Static embeddings of model2vec, read from bytes that a stranger may have written.

``StaticModel.from_pretrained`` would read files by name and look models up on the network. Here the
arrays are views of the bytes that were compared with the model's name.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from model2vec.model import StaticModel
from numpy.typing import NDArray
from tokenizers import Tokenizer

from autotune_platform.apprentice.similarity.files import OtherEmbeddingsError
from autotune_platform.runtime.bounded_json import parse_strictly

MOST_TOKENS: Final = 8_192
"""Of a text; the rest of it does not count."""
MOST_DIMENSIONS: Final = 4_096
_MOST_HEADER_BYTES = 100_000
_MOST_VALUES = 1_000
_TYPES: Final[Mapping[str, Mapping[str, np.dtype[Any]]]] = {
    "embeddings": {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I8": np.dtype("i1")},
    "weights": {"F64": np.dtype("<f8"), "F32": np.dtype("<f4")},
    "mapping": {"I64": np.dtype("<i8"), "I32": np.dtype("<i4")},
}


def read_embeddings(files: Mapping[str, bytes]) -> StaticModel:
    """Return the model that a folder's files make.

    Args:
        files: those of ``apprentice_embeddings.FILES``, of bounded sizes.

    Raises:
        OtherEmbeddingsError: they make none; the message says what is wrong.
    """
    try:
        config = parse_strictly(files["config.json"], most_values=_MOST_VALUES)
        tensors = _tensors(files["model.safetensors"])
        tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
    except (AttributeError, KeyError, TypeError, UnicodeError, ValueError, struct.error) as error:
        raise OtherEmbeddingsError(f"a file is broken: {type(error).__name__}") from error
    except Exception as error:
        # The class of tokenizers' errors is Exception itself.
        if type(error) is not Exception:
            raise
        raise OtherEmbeddingsError("tokenizer.json is none that tokenizers reads") from error
    if not isinstance(config, dict):
        raise OtherEmbeddingsError("config.json: an object")
    return _model(tensors, tokenizer)


def _model(tensors: Mapping[str, NDArray[Any]], tokenizer: Tokenizer) -> StaticModel:
    vectors, weights, mapping = (tensors.get(name) for name in _TYPES)
    if vectors is None or vectors.ndim != 2 or not 1 <= vectors.shape[1] <= MOST_DIMENSIONS:
        raise OtherEmbeddingsError(f"embeddings: rows of 1 to {MOST_DIMENSIONS} numbers")
    ids = tokenizer.get_vocab().values()
    tokens = len(ids)
    # Each token has a row, by its own number or by that which the mapping has at it.
    if not tokens or sorted(ids) != list(range(tokens)):
        raise OtherEmbeddingsError("tokenizer.json: tokens that are numbered from 0 on")
    for name, array in (("weights", weights), ("mapping", mapping)):
        if array is not None and array.shape != (tokens,):
            raise OtherEmbeddingsError(f"{name}: a number for each token")
    if mapping is None and len(vectors) != tokens:
        raise OtherEmbeddingsError("embeddings: a row for each token")
    if mapping is not None and not 0 <= mapping.min() <= mapping.max() < len(vectors):
        raise OtherEmbeddingsError("mapping: numbers of rows")
    for name, array in (("embeddings", vectors), ("weights", weights)):
        if array is not None and not bool(np.isfinite(array).all()):
            raise OtherEmbeddingsError(f"{name}: finite numbers")
    return StaticModel(
        vectors, tokenizer, weights=weights, token_mapping=mapping, max_length=MOST_TOKENS
    )


def _tensors(content: bytes) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a safetensors file, without a copy.

    https://github.com/huggingface/safetensors#format
    """
    (length,) = struct.unpack_from("<Q", content)
    if length > _MOST_HEADER_BYTES:
        raise OtherEmbeddingsError(f"a header of more than {_MOST_HEADER_BYTES} bytes")
    header = parse_strictly(content[8 : 8 + length], most_values=_MOST_VALUES)
    arrays = {}
    for name, said in header.items():
        if name == "__metadata__":
            continue
        if name not in _TYPES:
            raise OtherEmbeddingsError("model.safetensors: other arrays than model2vec's")
        arrays[name] = _array(content, 8 + length, said, _TYPES[name])
    return arrays


def _array(
    content: bytes, first: int, said: Mapping[str, Any], types: Mapping[str, np.dtype[Any]]
) -> NDArray[Any]:
    (begin, end), shape, dtype = said["data_offsets"], said["shape"], types[said["dtype"]]
    if not all(type(number) is int and number >= 0 for number in (begin, end, *shape)):
        raise OtherEmbeddingsError("an array of no place or shape")
    numbers = math.prod(shape)
    if end - begin != numbers * dtype.itemsize or first + end > len(content) or not numbers:
        raise OtherEmbeddingsError("an array that is not where the header says")
    return np.frombuffer(content, dtype, count=numbers, offset=first + begin).reshape(shape)


def embedded(model: StaticModel, texts: Sequence[str]) -> Sequence[Sequence[float]]:
    """Return the embeddings of texts; of one without any token that the model has, zeros."""
    return np.asarray(model.encode(list(texts)), np.float64).tolist()  # type: ignore[no-any-return]
