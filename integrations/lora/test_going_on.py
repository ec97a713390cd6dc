"""A training that is interrupted learns what one learns that is not: weights, losses, chance.

The base leaves out attention by chance, so that random numbers matter as well.
"""

import gzip
import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from student_program import checkpoints as program
from student_program import lora
from student_program.given import Given

from integrations.lora.tasks import SYSTEM, USER
from integrations.lora.tiny_base import write_base
from tests.support.students import made_up

ROWS = 40
STEPS = ROWS // lora.BATCH * lora.EPOCHS
EVERY = 4
ADAPTER, TRAINING = "adapter_model.safetensors", "training.safetensors"


class InterruptedTrainingError(Exception):
    """The instance is taken away."""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A job's inputs."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("job")
    write_base(folder / "base", system=SYSTEM, user=USER, steps=2, dropout=0.2)
    rows = [
        {"input": value, "output": {"intent": output["intent"].split("_")[0]}}
        for value, output in made_up(ROWS, seed=3)
    ]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    (folder / "rows.jsonl.gz").write_bytes(gzip.compress(lines))
    settings = {"system": SYSTEM, "user": USER, "variables": ["text"]}
    return Given(
        names={},
        base=folder / "base",
        lora={"r": 4, "alpha": 8},
        settings=settings,
        rows=folder / "rows.jsonl.gz",
    )


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Checkpoints come soon."""
    monkeypatch.setattr(lora, "EVERY_STEPS", EVERY)


class Learner(torch.optim.AdamW):
    """Notes steps, and is taken away where it should."""

    steps = 0
    last = None

    def step(self, *arguments, **options):
        if Learner.steps == Learner.last:
            raise InterruptedTrainingError
        Learner.steps += 1
        return super().step(*arguments, **options)


@pytest.fixture
def train(job, tmp_path, monkeypatch, capsys):
    """Trains in folders of a name, for so many steps at most; returns weights and lines."""
    monkeypatch.setattr(torch.optim, "AdamW", Learner)

    def trained(name, *, at_most=None):
        Learner.steps, Learner.last = 0, at_most
        model, kept = tmp_path / name / "model", tmp_path / name / "checkpoints"
        try:
            lora.train(job, model_dir=model, checkpoints=kept)
        except InterruptedTrainingError:
            return None, printed(capsys)
        return load_file(model / ADAPTER), printed(capsys)

    return trained


def printed(capsys):
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("step=")]


def same(one, other):
    """Return whether weights are the same, number by number."""
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)


def test_what_was_interrupted_twice_learned_what_was_never_interrupted(train, tmp_path):
    whole, said = train("whole")
    assert len(said) == STEPS // EVERY
    assert Learner.steps == STEPS
    lines = []
    for _ in range(2):  # before a seventh step, and a seventh after the fourth
        none, some = train("interrupted", at_most=6)
        assert none is None
        lines += some
    weights, some = train("interrupted")
    assert Learner.steps == STEPS - 8
    assert lines + some == said
    assert same(weights, whole)
    kept = tmp_path / "interrupted" / "checkpoints"
    assert {file.suffix for file in kept.rglob("*") if file.is_file()} == {".safetensors", ".json"}


@pytest.mark.parametrize("lost", ["optimizer/", "random/"])
def test_it_is_not_the_same_by_chance(train, tmp_path, lost):
    whole, _ = train("whole")
    train("interrupted", at_most=6)
    step, folder = program.newest(tmp_path / "interrupted" / "checkpoints")
    other = {"optimizer/": torch.zeros_like, "random/": lambda _: torch.manual_seed(9).get_state()}
    tensors = {
        name: other[lost](one) if name.startswith(lost) else one
        for name, one in load_file(folder / TRAINING).items()
    }
    save_file(tensors, folder / TRAINING)
    program.note(folder, step)
    weights, _ = train("interrupted")
    assert Learner.steps == STEPS - step
    assert not same(weights, whole)


def test_a_checkpoint_that_is_half_stored_leaves_the_one_before(train, tmp_path):
    whole, said = train("whole")
    train("interrupted", at_most=9)
    kept = tmp_path / "interrupted" / "checkpoints"
    newest = program.newest(kept)
    assert newest.step == 8
    (newest.folder / TRAINING).write_bytes(b"some of it")
    assert program.newest(kept).step == 4
    weights, lines = train("interrupted")
    assert Learner.steps == STEPS - 4
    assert lines == said[1:]
    assert same(weights, whole)
