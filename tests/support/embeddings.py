"""Small embedding models for tests, as model2vec itself writes them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from autotune.protocol.apprentice_embeddings import FILES, key_of, name_of
from autotune_platform.runtime import clients

# Opposites point away from each other; the three of cars are alike.
VECTORS = {
    "[UNK]": (0.0, 0.0, 0.0),
    "yes": (1.0, 0.0, 0.0),
    "no": (-1.0, 0.0, 0.0),
    "car": (0.0, 1.0, 0.0),
    "automobile": (0.0, 0.9, 0.1),
    "vehicle": (0.0, 0.8, 0.3),
    # intents of students' examples
    "show": (0.6, 0.8, 0.0),
    "cancel": (0.8, 0.6, 0.0),
    "explain": (0.0, 0.6, 0.8),
}


def static_model() -> StaticModel:
    """Return a model whose words have those vectors."""
    words = {word: place for place, word in enumerate(VECTORS)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return StaticModel(np.array(list(VECTORS.values()), np.float32), tokenizer)


def written(folder: Path) -> Path:
    """Write the model into a folder, and return it."""
    static_model().save_pretrained(folder)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {file: (folder / file).read_bytes() for file in FILES}


def named(files: Mapping[str, bytes], label: str = "words") -> str:
    digests = {file: hashlib.sha256(content).hexdigest() for file, content in files.items()}
    return name_of(label, digests)


def store(files: Mapping[str, bytes], name: str | None = None) -> str:
    """Store a model as an operator does; return its name."""
    name = name or named(files)
    for file, content in files.items():
        clients.s3().put_object(Bucket="apprentice", Key=key_of(name, file), Body=content)
    return name
