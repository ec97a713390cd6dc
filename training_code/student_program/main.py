"""From what is given to a model that says what it is of, or to a failure that says why."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from student_program.given import Given, GivenError, digest_of, given

_ABOUT = ("training_id", "base_model", "base_sha256", "data_sha256")
_MANIFEST = "student.json"
_FORMAT = 1
_CHECKPOINTS = "checkpoints"

Train = Callable[..., None]


def main(train: Train | None = None) -> int:
    """Train, and return the status of this process.

    Args:
        train: what trains; an adapter is trained without it.
    """
    try:
        model_dir = Path(os.environ["SM_MODEL_DIR"])
        inputs = given()
        if train is None:
            from student_program.lora import train as train_lora

            train = train_lora
        train(inputs, model_dir=model_dir, checkpoints=model_dir.parent / _CHECKPOINTS)
        sign(inputs, model_dir)
    except Exception as error:
        # Its message, and what a traceback prints, may have texts of rows.
        said = f"autotune: {reason_of(error)}"
        Path(os.environ["SM_OUTPUT_DIR"], "failure").write_text(said)
        print(said, flush=True)
        return 1
    return 0


def sign(inputs: Given, model_dir: Path) -> None:
    """Write what the model is of, and the digest of each of its files."""
    files = {file.name: digest_of(file) for file in sorted(model_dir.iterdir())}
    about = {name: inputs.names[name] for name in _ABOUT}
    (model_dir / _MANIFEST).write_text(
        json.dumps({"format": _FORMAT, "kind": "lora", **about, "files": files}, sort_keys=True)
    )


def reason_of(error: Exception) -> str:
    """Return why it failed: a word of ours, the error's class, and the line of our text."""
    code = "failed"
    if isinstance(error, GivenError):
        return error.code
    if isinstance(error, ImportError):
        code = "library_missing"
    elif isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        code = "out_of_memory"
    line, trace = 0, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).parent == Path(__file__).parent:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{code} {type(error).__name__}:{line}"
