"""Lists the files of a base model with their digests, for jobs that train adapters of it.

``python -m tools.base_model FOLDER`` writes ``base.json`` into a folder of weights in safetensors,
of its tokenizer and its configuration. What is uploaded is that folder, to where the guide for
operators says.
"""

import argparse
import hashlib
import json
from pathlib import Path

LIST = "base.json"
_READ_BYTES = 1_048_576
# What torch and numpy read by a pickle, and what transformers would run.
_REFUSED = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".py")


class RefusedFileError(ValueError):
    """A file that no job is to read."""


def listed(folder: Path) -> str:
    """Returns the text of ``base.json`` for a folder.

    Raises:
        RefusedFileError: A file could run code where it is read; or there are no weights.
    """
    files = {
        file.relative_to(folder).as_posix(): _digest_of(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file != folder / LIST
    }
    for name in files:
        if name.endswith(_REFUSED):
            raise RefusedFileError(f"{name} could run code where it is read: convert or remove it")
    if not any(name.endswith(".safetensors") for name in files):
        raise RefusedFileError(f"{folder} has no weights in safetensors")
    return json.dumps({"files": files}, indent=1, sort_keys=True) + "\n"


def _digest_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while some := content.read(_READ_BYTES):
            digest.update(some)
    return digest.hexdigest()


def main() -> None:
    """Writes the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    (folder / LIST).write_text(listed(folder))
    print(folder / LIST)


if __name__ == "__main__":
    main()
