"""A task of the apprentice with trainings of every end, for the console."""

import hashlib
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingComparison,
    ApprenticeTrainingShortage,
    ApprenticeTrainingStep,
    ApprenticeTrainingTest,
)
from autotune.protocol.ids import new_id
from autotune_platform.apprentice.examples.manifests import Frozen, Manifest
from autotune_platform.apprentice.training.certifying import Certifying
from autotune_platform.apprentice.training.models import (
    JobPlan,
    TrainedModel,
    Training,
    TrainingJob,
)
from autotune_platform.apprentice.training.repository import TrainingRepository
from functions.apprentice.api import parts
from tests.support.apprentice_folding import Apprentice
from tests.support.platform import Platform

NAME = "routes"
HOSTED, WORSE, GIVEN_UP, RUNNING = 2, 3, 4, 5
PAIRS = 40


def filled_trainings(platform: Platform, connection_id: str) -> Apprentice:
    """Make the task ``routes``: five trainings, the second made its version 1, the last runs."""
    made = Apprentice(platform, connection_id, NAME)
    stored = _Stored(made)
    lacks = ApprenticeTrainingShortage(train=31, train_needed=50, holdout=4, holdout_needed=22)
    stored.end(state="discarded", objections=("too_few_examples",), shortage=lacks)
    hosted = stored.end(state="hosted", step="host", version=1, **_judged(HOSTED))
    assert hosted.model is not None
    made.add_version(
        1,
        backend="linear",
        model=hosted.model.name,
        digest=hosted.model.sha256,
        created_at=hosted.created_at.isoformat(),
        created_by=hosted.created_by,
    )
    worse = ApprenticeTrainingComparison(
        version=1,
        groups=171,
        mean_difference=-0.0117,
        differing=0.0819,
        margin=0.03,
        is_no_worse=False,
        power=0.412,
        groups_for_power=390,
    )
    stored.end(
        state="discarded",
        step="validate",
        objections=("agreement", "worse_than_before"),
        **_judged(WORSE, attempt=2, mean=0.912, bound=0.874, evidence=2.4, comparison=worse),
    )
    stored.end(state="failed", step="train", error="platform_error")
    stored.begin(step="train")
    dice = Random(5)
    now = datetime.now(UTC)
    made.store(
        made.answered(float(dice.random() < 0.95), created_at=now, cost_nano_usd=90_000)
        for _ in range(PAIRS)
    )
    made.follow()
    return made


def under_way_in_a_job(made: Apprentice, number: int, *, step: ApprenticeTrainingStep) -> None:
    """Have a training that runs be one that a job trains, or trained."""
    repository = TrainingRepository(made.table)
    training = repository.get(made.task.id, number)
    assert training is not None
    job = TrainingJob(
        name=f"autotune-{training.id}-1",
        attempt=1,
        instance_type="ml.g5.xlarge",
        price_nano_usd=1_408_000_000,
        reserved_nano_usd=0,
        periods=(),
        planned_at=training.created_at,
        billable_seconds=None if step == "train" else 900,
    )
    later: dict[str, Any] = {"plan": JobPlan(attempts=1), "job": job, "step": step}
    if step not in ("train", "verify"):
        later["model"] = _model(number)
    assert repository.change(training, training.model_copy(update=later))


class _Stored:
    """Trainings of a task, stored as its steps store them."""

    def __init__(self, made: Apprentice) -> None:
        self._made = made
        self._repository = TrainingRepository(made.table)
        self._number = 0

    def begin(self, **fields: Any) -> Training:
        """Store one more that runs."""
        task = self._made.task
        self._number += 1
        now = datetime.now(UTC)
        training = Training(
            id=new_id("trn"),
            organization_id=task.organization_id,
            task_id=task.id,
            task_name=task.name,
            number=self._number,
            cause="request" if self._number == 1 else "examples",
            examples=1_800 if self._number > 1 else 35,
            backend="linear",
            configuration_version=task.version,
            definition_hash=task.definition_hash,
            created_at=now - timedelta(days=RUNNING - self._number, minutes=2),
            created_by="key_x",
            due_at=now + timedelta(hours=1),
        )
        assert self._repository.add(task, training, emergency=0)
        changed = training.model_copy(update=fields)
        assert not fields or self._repository.change(training, changed)
        return changed

    def end(self, *, manifest: Any = None, **fields: Any) -> Training:
        """Store one more that has ended."""
        begun = self.begin()
        if manifest is not None:
            fields["manifest"] = manifest(begun)
        ended_at = begun.created_at + timedelta(minutes=1)
        ended = begun.model_copy(update={**fields, "ended_at": ended_at})
        certificate = None
        if ended.version is not None:
            signing = parts().certificates.signing
            certificate = Certifying(signing=signing).certify(ended, ended.version, made_by=ended)
        assert self._repository.change(begun, ended, certificate=certificate)
        return ended


def _judged(number: int, **fields: Any) -> dict[str, Any]:
    """Return data, model and test of a training that was judged."""
    test = {"attempt": 1, "mean": 0.965, "bound": 0.931, "evidence": 812.0, **fields}
    attempt = test["attempt"]
    return {
        "manifest": _manifest,
        "model": _model(number),
        "test": ApprenticeTrainingTest(
            examples=180,
            groups=171,
            fewest_groups=22,
            threshold=0.9,
            evidence_needed=20.0 * attempt * (attempt + 1),
            valid=1.0,
            slow_ms=3,
            **test,
        ),
    }


def _model(number: int) -> TrainedModel:
    return TrainedModel(
        name=f"trn-{number:06d}",
        sha256=_digest("model", number),
        size_bytes=1_204_331,
        seconds=0.83,
    )


def _manifest(training: Training) -> Manifest:
    sides = {
        side: Frozen(key=side, sha256=_digest(side, training.number), bytes=9_000, rows=rows)
        for side, rows in (("train", 1_620), ("held_out", 180))
    }
    return Manifest(
        training_id=training.id,
        task_id=training.task_id,
        organization_id=training.organization_id,
        definition_hash=training.definition_hash,
        configuration_version=training.configuration_version,
        holdout=0.1,
        split_by=(),
        examples_sha256=_digest("ids", training.number),
        selections={"phase1": 1_620},
        left_out=0,
        frozen_at=training.created_at,
        **sides,
    )


def _digest(what: str, number: int) -> str:
    return hashlib.sha256(f"{what}{number}".encode()).hexdigest()
