"""Checkpoints: what a training goes on from as though nothing had interrupted it.

Weights, what the optimiser knows of them and the state of random numbers are safetensors, all else
is JSON: nothing that Python would run. Two folders take turns. Files are stored one by one while
it trains, so that an interruption may leave some of the next checkpoint: then the one before is
whole.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from student_program.given import digest_of

ADAPTER = ("adapter_model.safetensors", "adapter_config.json")
_TRAINING = "training.safetensors"
_FILES = (*ADAPTER, _TRAINING)
_STATE = "state.json"
_TURNS = ("even", "odd")
_CPU, _CUDA = "random/cpu", "random/cuda"
_OPTIMIZER = "optimizer"


class Checkpoint(NamedTuple):
    """A checkpoint whose files are all of one step.

    Attributes:
        step: how many steps were done.
        folder: has the adapter's two files, as peft reads them, and the rest.
    """

    step: int
    folder: Path


def newest(checkpoints: Path) -> Checkpoint | None:
    """Return the latest checkpoint that is whole, if there is any."""
    found = [
        Checkpoint(step, checkpoints / turn)
        for turn in _TURNS
        if (step := _step_of(checkpoints / turn))
    ]
    return max(found, default=None)


def save_adapter(model: Any, folder: Path) -> None:
    """Write an adapter's two files, and none of those that peft writes beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as beside:
        model.save_pretrained(beside, safe_serialization=True)
        for name in ADAPTER:
            shutil.move(Path(beside, name), folder / name)


def save(checkpoints: Path, number: int, *, step: int, model: Any, optimizer: Any) -> None:
    """Write a checkpoint in the place of the one before the last.

    Args:
        checkpoints: where its folder is.
        number: the how manieth checkpoint of the training it is.
        step: how many steps were done.
        model: whose weights learn.
        optimizer: that of its weights.
    """
    from safetensors.torch import save_file

    folder = checkpoints / _TURNS[number % len(_TURNS)]
    with tempfile.TemporaryDirectory() as beside:
        whole = Path(beside)
        save_adapter(model, whole)
        save_file(_tensors(model, optimizer), whole / _TRAINING)
        note(whole, step)
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*_FILES, _STATE):
            shutil.move(whole / name, folder / name)


def note(folder: Path, step: int) -> None:
    """Write of what step a checkpoint's files are, with the digest of each."""
    digests = {name: digest_of(folder / name) for name in _FILES}
    (folder / _STATE).write_text(json.dumps({"step": step, "files": digests}))


def restore(folder: Path, *, model: Any, optimizer: Any) -> None:
    """Have an optimiser and random numbers go on from a checkpoint.

    Args:
        folder: that of the checkpoint.
        model: the adapter of the same checkpoint, on the device where it learns.
        optimizer: a new one, of the model's weights.
    """
    import torch
    from safetensors.torch import load_file

    tensors = load_file(folder / _TRAINING)
    torch.set_rng_state(tensors.pop(_CPU))
    of_card = tensors.pop(_CUDA, None)
    if of_card is not None and torch.cuda.is_available():
        torch.cuda.set_rng_state(of_card)
    known: dict[str, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        _, key, weight = name.split("/", 2)
        known.setdefault(weight, {})[key] = tensor
    optimizer.load_state_dict(
        {
            "state": {at: known[name] for at, name in enumerate(_learning(model))},
            # Rate and such are the program's own, the same at each step.
            "param_groups": optimizer.state_dict()["param_groups"],
        }
    )


def _tensors(model: Any, optimizer: Any) -> dict[str, Any]:
    import torch

    tensors = {
        f"{_OPTIMIZER}/{key}/{name}": value
        for name, weight in _learning(model).items()
        for key, value in optimizer.state[weight].items()
    }
    tensors[_CPU] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors[_CUDA] = torch.cuda.get_rng_state()
    return tensors


def _learning(model: Any) -> Mapping[str, Any]:
    """Return the weights that learn by their names, in the order that the optimiser has them in."""
    return {name: one for name, one in model.named_parameters() if one.requires_grad}


def _step_of(folder: Path) -> int:
    """Return how many steps a folder's checkpoint has; 0 where none is, or none that is whole."""
    state = folder / _STATE
    if not state.is_file():
        return 0
    try:
        noted = json.loads(state.read_text())
        step, digests = noted["step"], [noted["files"][name] for name in _FILES]
    except (KeyError, TypeError, ValueError):  # some of it, or of another shape
        return 0
    files = [folder / name for name in _FILES]
    is_whole = all(
        file.is_file() and digest_of(file) == digest
        for file, digest in zip(files, digests, strict=True)
    )
    return step if is_whole and isinstance(step, int) else 0
