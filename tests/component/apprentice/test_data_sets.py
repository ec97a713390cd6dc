"""A data set is frozen once: what trains and what validates, apart for good."""

import gzip
import json

import boto3
import pytest

from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.examples.data_sets import DataSets
from autotune_platform.apprentice.examples.files import DataFiles
from autotune_platform.apprentice.examples.items import example_key
from autotune_platform.apprentice.examples.manifests import (
    Fewest,
    Manifest,
    TamperedDataSetError,
    TooFewExamplesError,
)
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.examples.sides import Digests, Split
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice_runs import ApprenticeExampleEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.apprentice_examples import ApprenticeExampleParts
from tests.support.apprentice_folding import Apprentice
from tests.support.kept import kept
from tests.support.killing import Killed, Killer
from tests.support.lambdas import forget_processes

PATH = "/api/v1/apprentice/tasks/intents"
HALF = {"backend": "linear", "fineTuneBatchSize": 50, "holdout": 0.5}
ONE = Fewest()


class Freezing:
    """A task with examples, and what freezes them."""

    def __init__(self, runs):
        self.runs = runs
        self.put(training=HALF)
        self.parts = ApprenticeExampleParts(ApprenticeExampleEnvironment.parse())
        self.sets = DataSets(
            examples=self.parts.examples,
            splits=self.parts.splits,
            contents=self.parts.example_contents,
            files=DataFiles(bucket="apprentice", s3=clients.s3()),
        )
        organization_id = runs.platform.me()["organizationId"]
        caller = type("Caller", (), {"organization_id": organization_id})()
        self.tasks: TaskConfigurations = self.parts.apprentice_tasks
        self._caller = caller

    def put(self, **fields):
        self.task = self.runs.put(**fields)
        forget_processes()  # which know tasks for some seconds

    def ask(self, *numbers):
        for number in numbers:
            assert self.runs.start({"text": f"asked {number}"}, wait=20).status == 200
        Apprentice.follow(None, Apprentice.records())

    def bring(self, *numbers):
        lines = "\n".join(
            json.dumps({"input": {"text": f"brought {number}"}, "output": {"intent": "a"}})
            for number in numbers
        )
        assert self.runs.platform.call("POST", f"{PATH}/examples", raw=lines.encode()).status == 201

    def freeze(self, training_id="trn_1", fewest=ONE, **how) -> Manifest:
        configured = self.tasks.get(self._caller, "intents")
        return self.sets.freeze(configured, training_id, fewest=fewest, **how)

    def rows(self, manifest, side):
        return list(self.sets.rows(manifest, side))

    def objects(self):
        return sorted(one.key for one in kept() if one.place == "bucket apprentice")


@pytest.fixture
def freezing(runs):
    return Freezing(runs)


def test_each_example_is_on_the_side_that_its_input_says(freezing):
    freezing.ask(*range(12))
    freezing.bring(*range(12))
    manifest = freezing.freeze()
    train, holdout = freezing.rows(manifest, "train"), freezing.rows(manifest, "holdout")
    assert train
    assert holdout
    split = Split(0.5)
    for side, rows in (("train", train), ("holdout", holdout)):
        assert [row.id for row in rows] == sorted(row.id for row in rows)
        assert {Digests.of(row.input).side(split) for row in rows} == {side}
    assert {row.selection for row in holdout} == {"phase1"}
    assert {row.propensity for row in holdout} == {1}
    assert {row.selection for row in train} == {"phase1", "imported"}
    assert not {row.group for row in train} & {row.group for row in holdout}
    # What people brought validates nothing.
    brought = [f"brought {number}" for number in range(12)]
    aside = sum(Digests.of({"text": text}).side(split) == "holdout" for text in brought)
    assert (len(train) + len(holdout), manifest.left_out) == (24 - aside, aside)
    assert (manifest.train.rows, manifest.held_out.rows) == (len(train), len(holdout))
    assert sum(manifest.selections.values()) == len(train)
    assert Manifest.model_validate(manifest.model_dump(mode="json")) == manifest


def test_the_same_training_has_the_same_data_set(freezing):
    freezing.ask(*range(8))
    manifest = freezing.freeze()
    freezing.ask(*range(8, 12))
    assert freezing.freeze() == manifest
    assert freezing.sets.find(freezing.task["id"], "trn_1") == manifest
    later = freezing.freeze("trn_2")
    assert later.train.rows + later.held_out.rows == 12
    assert len(freezing.objects()) == 4


def test_the_same_examples_give_the_same_bytes(freezing):
    freezing.ask(*range(8))
    one, other = freezing.freeze(), freezing.freeze("trn_2")
    assert (one.train.sha256, one.held_out.sha256) == (other.train.sha256, other.held_out.sha256)
    assert one.examples_sha256 == other.examples_sha256


def test_what_trained_never_validates_whatever_becomes_of_the_settings(freezing):
    freezing.ask(*range(10))
    first = freezing.freeze()
    freezing.put(training={**HALF, "holdout": 0.4, "splitBy": ["text"]})
    freezing.ask(*range(10, 20))
    second = freezing.freeze("trn_2")
    assert (second.holdout, second.split_by) == (0.5, ())
    trained = {row.id for row in freezing.rows(first, "train")}
    validated = {row.id for row in freezing.rows(first, "holdout")}
    assert not trained & {row.id for row in freezing.rows(second, "holdout")}
    assert not validated & {row.id for row in freezing.rows(second, "train")}
    counts = freezing.runs.platform.call("GET", f"{PATH}/examples/counts").json["counts"]
    assert counts["split"] == {"holdout": 0.5, "splitBy": [], "isFixed": True}
    # Another definition is split by its own settings.
    freezing.put(training={**HALF, "holdout": 0.4}, systemPrompt="Another one.")
    freezing.ask(*range(30, 40))
    assert freezing.freeze("trn_3").holdout == 0.4


def test_too_few_examples_fix_nothing(freezing):
    freezing.ask(*range(8))
    with pytest.raises(TooFewExamplesError) as raised:
        freezing.freeze(fewest=Fewest(train=1, holdout=50))
    assert raised.value.found.holdout > 0
    assert raised.value.found.train + raised.value.found.holdout == 8
    assert freezing.objects() == []
    freezing.put(training={**HALF, "holdout": 0.4})
    assert freezing.freeze().holdout == 0.4


def test_groups_of_the_hold_out_count_by_how_they_were_drawn(freezing):
    freezing.ask(*range(8), 0)
    seen = []

    def nothing(drawn):
        seen.extend(drawn)
        return 0

    with pytest.raises(TooFewExamplesError) as raised:
        freezing.freeze(worth=nothing)
    assert raised.value.found.holdout == 0
    groups = {row.group for row in freezing.rows(freezing.freeze(), "holdout")}
    assert seen == [1.0] * len(groups)


def test_examples_without_texts_are_left_out(freezing):
    freezing.ask(*range(8))
    listed = freezing.runs.platform.call("GET", f"{PATH}/examples").json["examples"]
    gone = next(one for one in listed if one["side"] == "train")
    [row_id] = freezing.runs.read(gone["runId"])["routing"]["requestIds"]
    erased = freezing.runs.platform.call("DELETE", f"/api/v1/llm-requests/{row_id}/content")
    assert erased.status == 204
    manifest = freezing.freeze()
    assert manifest.left_out == 1
    assert gone["id"] not in {row.id for row in freezing.rows(manifest, "train")}


def test_a_tampered_object_is_never_read(freezing):
    freezing.ask(*range(8))
    manifest = freezing.freeze()
    s3, key = boto3.client("s3"), manifest.train.key
    before = s3.get_object(Bucket="apprentice", Key=key)["Body"].read()
    for content in (before + b"x", before[:-1] + b"x", gzip.compress(b"{}\n"), b""):
        s3.put_object(Bucket="apprentice", Key=key, Body=content)
        with pytest.raises(TamperedDataSetError, match="not what was frozen"):
            freezing.rows(manifest, "train")
    s3.delete_object(Bucket="apprentice", Key=key)
    with pytest.raises(TamperedDataSetError, match="is gone"):
        freezing.rows(manifest, "train")
    assert freezing.rows(manifest, "holdout")


def test_an_example_whose_digest_is_not_of_its_text_is_never_frozen(freezing):
    freezing.ask(*range(8))
    task = freezing.task
    repository = ExampleRepository(Table("apprentice", clients.dynamodb()))
    held_out = next(
        one
        for one in repository.all_of(task["id"], task["definitionHash"])
        if one.side(Split(0.5)) == "holdout"
    )
    key = example_key(task["id"], task["definitionHash"], held_out.id)
    # It would train, were its text not looked at.
    Table("apprentice", clients.dynamodb()).update(*key, {"whole": b"\xff" * 16})
    with pytest.raises(TamperedDataSetError, match=held_out.id):
        freezing.freeze()
    assert freezing.objects() == []


def test_a_data_set_whose_rows_were_deleted_is_still_known(freezing):
    freezing.ask(*range(8))
    manifest = freezing.freeze()
    freezing.freeze("trn_2")
    freezing.sets.files.delete(freezing.task["id"], "trn_1")
    freezing.sets.files.delete(freezing.task["id"], "trn_1")
    assert len(freezing.objects()) == 2
    assert freezing.freeze() == manifest


def test_data_sets_go_with_their_task(freezing):
    freezing.ask(*range(8))
    freezing.freeze()
    task_id = freezing.task["id"]
    s3 = boto3.client("s3")
    other = f"apprentice/apt_{0:026}/data/trn_1/train.jsonl.gz"
    s3.put_object(Bucket="apprentice", Key=other, Body=b"m")
    assert freezing.runs.platform.call("DELETE", PATH).status == 204
    assert freezing.objects() == [other]
    assert [one.key for one in kept() if one.key.startswith(task_id)] == []
    s3.delete_object(Bucket="apprentice", Key=other)


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
def test_whoever_is_killed_freezes_all_or_nothing(freezing, moment):
    freezing.ask(*range(8))
    killer = Killer()
    killed = 0
    for after in range(40):
        killer.kill(moment, after=after)
        try:
            manifest = freezing.freeze()
        except Killed:
            killed += 1
        else:
            break
        finally:
            killer.spare()
    assert killed > 20
    assert freezing.freeze() == manifest
    assert len(freezing.rows(manifest, "train")) == manifest.train.rows
    named = {manifest.train.key, manifest.held_out.key}
    assert named == set(freezing.objects())
