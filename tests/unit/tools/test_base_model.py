"""The list of a base model's files is what a training job compares them with."""

import hashlib
import json

import pytest

from tools.base_model import RefusedFileError, listed


def test_each_file_is_listed_with_its_digest(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "tokenizer.json").write_bytes(b"{}")
    text = listed(tmp_path)
    assert json.loads(text)["files"] == {
        "model.safetensors": hashlib.sha256(b"weights").hexdigest(),
        "more/tokenizer.json": hashlib.sha256(b"{}").hexdigest(),
    }
    (tmp_path / "base.json").write_text(text)
    assert listed(tmp_path) == text


@pytest.mark.parametrize("name", ["pytorch_model.bin", "modeling_mine.py", "rng.pth"])
def test_what_could_run_code_is_refused(tmp_path, name):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(RefusedFileError, match=name):
        listed(tmp_path)


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match="no weights"):
        listed(tmp_path)
