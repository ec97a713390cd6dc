"""What of answers is embedded, how models are named, and which files make one."""

import hashlib
import json
import struct

import numpy as np
import pytest
from model2vec import StaticModel

from autotune.protocol.apprentice_embeddings import (
    FILES,
    key_of,
    label_of,
    listed_in,
    name_of,
    prefix_of,
)
from autotune_platform.apprentice.similarity import embedding
from autotune_platform.apprentice.similarity.embedding import embedded, read_embeddings
from autotune_platform.apprentice.similarity.files import OtherEmbeddingsError
from autotune_platform.apprentice.similarity.texts import text_of
from tests.support.embeddings import VECTORS, files_of, static_model, written

WORDS = len(VECTORS)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return files_of(written(tmp_path_factory.mktemp("words")))


def packed(**arrays):
    header, content = {}, b""
    for name, (kind, array) in arrays.items():
        data = array.tobytes()
        places = [len(content), len(content) + len(data)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": places}
        content += data
    said = json.dumps(header).encode()
    return struct.pack("<Q", len(said)) + said + content


def headed(header, content=b""):
    said = json.dumps(header).encode()
    return struct.pack("<Q", len(said)) + said + content


def test_values_are_embedded_in_the_order_of_names_and_names_are_not():
    value = {"b": ["x", {"z": None, "y": 1.5}], "a": "first", "c": True, "d": []}
    assert text_of(value) == "first\nx\n1.5\nnull\ntrue"
    deep = "end"
    for _ in range(5_000):
        deep = {"a": [deep]}
    assert text_of(deep) == "end"


def test_a_name_says_which_bytes_a_model_has():
    digests = {file: hashlib.sha256(file.encode()).hexdigest() for file in FILES}
    name = name_of("potion-8m", digests)
    assert (label_of(name), len(name)) == ("potion-8m", len("potion-8m@") + 16)
    for file in FILES:
        assert name_of("potion-8m", {**digests, file: "0" * 64}) != name
    keys = [key_of(name, file) for file in FILES]
    assert listed_in([*keys, prefix_of() + "x/config.json", "elsewhere"]) == [name]
    assert listed_in(keys[1:]) == []
    for none in ("potion-8m", "Potion@0123456789abcdef", "a@0123456789abcde", "a/b@" + "0" * 16):
        assert label_of(none) is None


def test_a_model_embeds_as_model2vec_does(files):
    texts = ["car", "car automobile", "nothing known", "", "no yes vehicle"]
    vectors = embedded(read_embeddings(files), texts)
    np.testing.assert_allclose(vectors, static_model().encode(texts), rtol=1e-6)
    assert [any(one) for one in vectors] == [True, True, False, False, True]


def test_a_model_with_few_rows_and_weights_embeds_as_model2vec_does(files, tmp_path):
    made = static_model()
    mapping = np.array([0, 1, 2, 3, 3, 3, 1, 2, 3])
    quantised = StaticModel(
        np.round(made.embedding[:4] * 100).astype(np.int8),
        made.tokenizer,
        weights=np.linspace(0.5, 1.5, WORDS),
        token_mapping=mapping,
    )
    quantised.save_pretrained(tmp_path)

    texts = ["car yes", "vehicle no"]
    vectors = embedded(read_embeddings(files_of(tmp_path)), texts)
    np.testing.assert_allclose(vectors, quantised.encode(texts), rtol=1e-6)


def test_of_a_long_text_the_beginning_counts(files, monkeypatch):
    monkeypatch.setattr(embedding, "MOST_TOKENS", 2)
    model = read_embeddings(files)
    first, both = embedded(model, ["yes yes", "yes yes " + "no " * 1_000])
    assert first == both


GOOD = np.array(list(VECTORS.values()), "<f4")


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("config.json", b"[]", "config.json"),
        ("config.json", b"{", "broken"),
        ("tokenizer.json", b"{}", "tokenizer"),
        ("tokenizer.json", b"\xff", "broken"),
        ("model.safetensors", b"\x80\x04", "broken"),
        ("model.safetensors", struct.pack("<Q", 2**40), "header"),
        ("model.safetensors", headed([]), "broken"),
        ("model.safetensors", headed({}), "embeddings"),
        ("model.safetensors", packed(embeddings=("F32", GOOD[0])), "embeddings: rows"),
        ("model.safetensors", packed(embeddings=("F32", GOOD[1:])), "a row for each token"),
        ("model.safetensors", packed(embeddings=("F32", np.full_like(GOOD, np.inf))), "finite"),
        ("model.safetensors", packed(embeddings=("O", GOOD)), "broken"),
        ("model.safetensors", packed(code=("F32", GOOD)), "other arrays"),
        (
            "model.safetensors",
            packed(embeddings=("F32", GOOD), mapping=("I64", np.full(WORDS, WORDS))),
            "mapping: numbers of rows",
        ),
        (
            "model.safetensors",
            packed(embeddings=("F32", GOOD), weights=("F64", np.ones(WORDS - 1))),
            "weights: a number for each token",
        ),
        ("model.safetensors", packed(embeddings=("F32", GOOD))[:-4], "where the header says"),
        (
            "model.safetensors",
            headed({"embeddings": {"dtype": "F32", "shape": [-1, -3], "data_offsets": [0, 12]}}),
            "place or shape",
        ),
        (
            "model.safetensors",
            headed({"embeddings": {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]}}),
            "where the header says",
        ),
    ],
)
def test_what_is_no_model_is_refused(files, file, content, why):
    with pytest.raises(OtherEmbeddingsError, match=why):
        read_embeddings({**files, file: content})
