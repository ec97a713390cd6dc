"""Operators store embedding models."""

import json
import struct

import boto3
import pytest
from botocore.exceptions import ConnectionClosedError

from autotune.cli import exit_codes
from autotune.protocol.apprentice_embeddings import FILES, key_of
from tests.sdk.cli.test_ops import FUNCTION, aws, deploy  # noqa: F401 - a fixture

BUCKET = "apprentice"
OUTPUTS = {"ScoreSimilarityFunctionName": FUNCTION, "ApprenticeBucketName": BUCKET}
LOOKED = json.dumps({"cosines": [], "tokens": 29_528, "dimensions": 256})


@pytest.fixture
def api():
    """No API: operators call functions."""


@pytest.fixture
def bucket(aws):  # noqa: F811
    boto3.client("s3").create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )


@pytest.fixture
def folder(tmp_path):
    """Files of the right kinds; what they hold, the function looks at."""
    made = tmp_path / "potion"
    made.mkdir()
    header = b'{"embeddings":{}}'
    (made / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    (made / "tokenizer.json").write_text("{}")
    (made / "config.json").write_text("{}")
    (made / "README.md").write_text("left out")
    return made


def stored():
    found = boto3.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return sorted(one["Key"] for one in found)


def test_a_model_is_stored_under_a_name_that_says_which_bytes_it_has(bucket, run, folder):
    deploy(OUTPUTS, LOOKED, LOOKED)
    [shown] = run("ops", "embeddings", "put", "potion", str(folder), "--json").json_lines
    name = shown["embeddingModel"]
    assert shown == {"embeddingModel": name, "tokens": 29_528, "dimensions": 256}
    assert name.startswith("potion@")
    assert stored() == sorted(key_of(name, file) for file in FILES)

    # The same again is the same model; other bytes are another one.
    assert name in run("ops", "embeddings", "put", "potion", str(folder)).stdout
    assert len(stored()) == 3
    ran = run("ops", "embeddings", "list")
    assert (ran.exit_code, ran.stdout) == (0, f"{name}\n")
    assert run("ops", "embeddings", "list", "--json").json_lines == [{"embeddingModel": name}]


def test_what_the_function_cannot_read_is_taken_back(bucket, run, folder):
    deploy(OUTPUTS, '{"refused": "another_model"}')
    ran = run("ops", "embeddings", "put", "potion", str(folder))
    assert (ran.exit_code, "no model" in ran.stderr) == (exit_codes.USAGE, True)
    assert stored() == []
    assert "there are none" in run("ops", "embeddings", "list").stderr


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("model.safetensors", b"\x80\x04\x95 a pickle", "pickles are not read"),
        ("model.safetensors", b"", "no safetensors"),
        ("tokenizer.json", b"[]", "no JSON object"),
        ("config.json", b" " * 100_001, "more than 100,000 bytes"),
        ("tokenizer.json", None, "is missing"),
    ],
)
def test_what_is_no_model_is_not_uploaded(bucket, run, folder, file, content, says):
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    ran = run("ops", "embeddings", "put", "potion", str(folder))
    assert (ran.exit_code != 0, says in ran.stderr) == (True, True), ran.stderr
    assert stored() == []


def test_a_label_has_few_characters(bucket, run, folder):
    ran = run("ops", "embeddings", "put", "Potion/8M", str(folder))
    assert (ran.exit_code, "expected up to 63" in ran.stderr) == (exit_codes.USAGE, True)


@pytest.fixture
def model(bucket, run, folder):
    """The name of a model that is stored."""
    deploy(OUTPUTS, LOOKED)
    [shown] = run("ops", "embeddings", "put", "potion", str(folder), "--json").json_lines
    return shown["embeddingModel"]


def test_a_model_is_deleted_with_all_its_files_and_no_other(model, run):
    s3 = boto3.client("s3")
    other = key_of(f"{model[:-1]}x", "config.json")
    for key in (key_of(model, "README.md"), other):
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"{}")
    ran = run("ops", "embeddings", "delete", model, "--yes")
    assert (ran.exit_code, ran.stdout) == (0, f"deleted {model}\n")
    assert stored() == [other]
    ran = run("ops", "embeddings", "delete", model, "--yes")
    assert (ran.exit_code, "there is no embedding model" in ran.stderr) == (
        exit_codes.NOT_FOUND,
        True,
    )


def test_a_deletion_that_was_ended_is_no_model_and_is_gone_on_with(model, run, monkeypatch):
    deleted = []

    def is_ended(params, **_):
        deleted.append(params["Key"])
        if len(deleted) == 2:
            raise ConnectionClosedError(endpoint_url="s3")

    client_of = boto3.session.Session.client

    def client(self, name, *arguments, **options):
        made = client_of(self, name, *arguments, **options)
        if name == "s3":
            made.meta.events.register("provide-client-params.s3.DeleteObject", is_ended)
        return made

    with monkeypatch.context() as patch:
        patch.setattr(boto3.session.Session, "client", client)
        ran = run("ops", "embeddings", "delete", model, "--yes")
    assert ran.exit_code == exit_codes.UNAVAILABLE
    assert deleted[0] == key_of(model, "model.safetensors")
    assert len(stored()) == 2
    assert run("ops", "embeddings", "list").stdout == ""
    assert run("ops", "embeddings", "delete", model, "--yes").exit_code == 0
    assert stored() == []


class Terminal:
    """Somebody sits there."""

    def isatty(self):
        return True


@pytest.mark.parametrize("answers", [True, False])
def test_it_is_asked_first(model, run, monkeypatch, answers):
    before = stored()
    for options in ([], ["--json"]):
        ran = run("ops", "embeddings", "delete", model, *options)
        assert (ran.exit_code, "give --yes" in ran.stderr) == (exit_codes.USAGE, True)
    asked = []
    monkeypatch.setattr(
        "autotune.cli.ops_embeddings.typer.confirm", lambda text, **_: asked.append(text) or answers
    )
    monkeypatch.setattr("autotune.cli.ops_embeddings.sys", type("S", (), {"stdin": Terminal()}))
    # Whoever reads JSON is no person, on a terminal too.
    assert run("ops", "embeddings", "delete", model, "--json").exit_code == exit_codes.USAGE
    assert (asked, stored()) == ([], before)
    ran = run("ops", "embeddings", "delete", model)
    assert [model in text for text in asked] == [True]
    assert (ran.exit_code == 0, stored() == before) == (answers, not answers)


def test_whoever_reads_json_is_answered_in_json(model, run):
    [shown] = run("ops", "embeddings", "delete", model, "--yes", "--json").json_lines
    assert shown == {"deleted": model}
    assert stored() == []


def test_a_name_is_whole(bucket, run):
    deploy(OUTPUTS)
    for name in ("potion", "potion@0123", "../jobs@0123456789abcdef"):
        ran = run("ops", "embeddings", "delete", name, "--yes")
        assert (ran.exit_code, "no name of a model" in ran.stderr) == (exit_codes.USAGE, True)
