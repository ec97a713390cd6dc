"""The program of training jobs: what it reads, what it signs, and what it says of a failure."""

import gzip
import hashlib
import json

import pytest
from student_program.checkpoints import newest, note
from student_program.given import Example, example_of
from student_program.main import main

from autotune_platform.apprentice.runs.prompting import local_question
from autotune_platform.apprentice.students.archives import TrainedOn, read_archive
from autotune_platform.apprentice.training.job_files import settings_of
from autotune_platform.apprentice.training.jobs import outcome_of
from infra.constructs.training_code import FOLDER, archive_of
from local.sagemaker.objects import pack
from tests.support.apprentice import configuration
from tests.support.local_sagemaker import unpacked

SECRET = "a text of a row"
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "more": {"type": "object"}},
    "required": ["text"],
}
DOCUMENT = {
    **configuration("llc_1"),
    "inputSchema": SCHEMA,
    "outputSchema": {"type": "object", "properties": {"{{intent}}": {"type": "string"}}},
    "systemPrompt": "You know {{ text }}.",
    "promptTemplate": "{{text}}, {{more}}, {{}} and {{\ttext}}",
    "training": {"baseModel": "tiny/base", "lora": {"r": 4, "alpha": 8}},
}


def safe(folder):
    header = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    content = len(header).to_bytes(8, "little") + header + b"\0" * 4
    (folder / "adapter_model.safetensors").write_bytes(content)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job's folders, as SageMaker has them."""
    row = {"input": {"text": SECRET}, "output": {"intent": "é"}}
    contents = {
        "train/rows.jsonl.gz": gzip.compress(json.dumps(row).encode() + b"\n"),
        "settings/settings.json": settings_of(DOCUMENT),
        "base/weights.safetensors": b"weights",
    }
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    listed = {"files": {"weights.safetensors": digests["base/weights.safetensors"]}}
    contents["base/base.json"] = json.dumps(listed).encode()
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    for name in ("model", "output"):
        (tmp_path / name).mkdir()
    given = {
        "training_id": "trn_1",
        "base_model": "tiny/base",
        "base_sha256": hashlib.sha256(contents["base/base.json"]).hexdigest(),
        "data_sha256": digests["train/rows.jsonl.gz"],
        "settings_sha256": digests["settings/settings.json"],
    }
    monkeypatch.setenv("SM_HPS", json.dumps(given))
    monkeypatch.setenv("SM_MODEL_DIR", str(tmp_path / "model"))
    monkeypatch.setenv("SM_OUTPUT_DIR", str(tmp_path / "output"))
    for name in ("TRAIN", "SETTINGS", "BASE"):
        monkeypatch.setenv(f"SM_CHANNEL_{name}", str(tmp_path / name.lower()))
    return tmp_path, given


def failure(folder):
    """What SageMaker would show of a failure."""
    said = (folder / "output" / "failure").read_text()
    job = {
        "TrainingJobStatus": "Failed",
        "FailureReason": f"AlgorithmError: {said}, exit code: 1",
    }
    return outcome_of(job)


def test_rows_are_asked_as_versions_are(job):
    value = {"text": "{{more}} \\1", "more": {"é": [1, "{{text}}"]}}
    asked = local_question(DOCUMENT, value)
    made = example_of(json.loads(settings_of(DOCUMENT)), value, {"intent": "é"})
    assert made == Example(asked.system, asked.user, '{"intent":"é"}')


def test_what_was_trained_says_what_it_is_of(job):
    folder, given = job
    seen = []

    def train(inputs, *, model_dir, checkpoints):
        seen.extend(inputs.examples())
        assert inputs.lora == {"r": 4, "alpha": 8}
        assert checkpoints == folder / "checkpoints"
        safe(model_dir)

    assert main(train) == 0
    assert [one.answer for one in seen] == ['{"intent":"é"}']
    pack(folder / "model", folder / "model.tar.gz")
    named = {name: given[name] for name in TrainedOn._fields}
    with (folder / "model.tar.gz").open("rb") as content:
        found = read_archive(content, TrainedOn(**named))
    assert sorted(found.files) == ["adapter_model.safetensors", "student.json"]


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (ValueError(SECRET), "autotune: failed ValueError:"),
        (ImportError(SECRET), "autotune: library_missing ImportError:"),
        (MemoryError(SECRET), "autotune: out_of_memory MemoryError:"),
    ],
)
def test_a_failure_says_what_and_where_and_nothing_of_rows(job, capsys, raised, said):
    def train(inputs, **_):
        raise raised

    assert main(train) == 1
    outcome, reason = failure(job[0])
    assert outcome == "algorithm_error"
    assert reason.startswith(said)
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err + reason


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("train/rows.jsonl.gz", "data_differs"),
        ("settings/settings.json", "settings_differ"),
        ("base/base.json", "base_differs"),
        ("base/weights.safetensors", "base_differs"),
    ],
)
def test_what_is_not_what_it_should_be_is_not_learned_from(job, changed, said):
    folder, _ = job
    (folder / changed).write_bytes(b"something else")
    assert main(lambda *_, **__: pytest.fail("it trains")) == 1
    assert failure(folder) == ("algorithm_error", f"autotune: {said}")


def test_a_reason_that_is_not_of_our_program_is_not_shown():
    for reason in (
        f"AlgorithmError: ExecuteUserScriptError: {SECRET}",
        f"AlgorithmError: autotune: {SECRET}",
        f"ClientError: {SECRET}",
    ):
        _, shown = outcome_of({"TrainingJobStatus": "Failed", "FailureReason": reason})
        assert SECRET not in (shown or "")


def test_the_same_program_is_always_the_same_archive():
    content = archive_of(FOLDER)
    assert content == archive_of(FOLDER)
    files = unpacked(content)
    assert files["train.py"] == (FOLDER / "train.py").read_bytes()
    assert {name for name in files if name.startswith("student_program/")} == {
        f"student_program/{file.name}" for file in (FOLDER / "student_program").glob("*.py")
    }


def stored(checkpoints, turn, step):
    """Have a checkpoint."""
    folder = checkpoints / turn
    folder.mkdir(exist_ok=True)
    safe(folder)
    (folder / "adapter_config.json").write_text("{}")
    (folder / "training.safetensors").write_bytes(f"of step {step}".encode())
    note(folder, step)
    return folder


def test_a_checkpoint_of_which_some_is_stored_leaves_the_one_before(tmp_path):
    assert newest(tmp_path) is None
    first = stored(tmp_path, "odd", 100)
    assert newest(tmp_path) == (100, first)
    second = stored(tmp_path, "even", 200)
    assert newest(tmp_path) == (200, second)
    # What was stored while the next one was written.
    for file, content in (
        ("adapter_model.safetensors", b"of step 300"),
        ("training.safetensors", b"of step 300"),
        ("state.json", b'{"step": 300, "fi'),
    ):
        stored(tmp_path, "odd", 100)
        assert newest(tmp_path) == (200, second)
        (second / file).write_bytes(content)
        assert newest(tmp_path) == (100, first), file
        (second / file).unlink()
        assert newest(tmp_path) == (100, first), file
        stored(tmp_path, "even", 200)
    (first / "training.safetensors").unlink()
    (second / "training.safetensors").unlink()
    assert newest(tmp_path) is None


@pytest.mark.parametrize(
    "noted",
    [
        "[]",
        "null",
        '"files"',
        "{}",
        '{"step": 300}',
        '{"step": 300, "files": null}',
        '{"step": 300, "files": {"adapter_model.safetensors": 1}}',
        '{"step": null, "files": FILES}',
        '{"step": [300], "files": FILES}',
        '{"step": 1e999, "files": FILES}',
        '{"files": FILES}',
    ],
)
def test_a_checkpoint_of_another_shape_leaves_the_one_before(tmp_path, noted):
    first = stored(tmp_path, "odd", 100)
    state = stored(tmp_path, "even", 200) / "state.json"
    files = json.dumps(json.loads(state.read_text())["files"])
    state.write_text(noted.replace("FILES", files))

    assert newest(tmp_path) == (100, first)
