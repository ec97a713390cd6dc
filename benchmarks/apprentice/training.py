"""Trainings of a stream in this process, by the product's split, student, gate and judgement.

What the product's state machine does by steps, with files in between, is done at once.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.examples.models import Example
from autotune_platform.apprentice.examples.sides import Split
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.outputs import read_output
from autotune_platform.apprentice.runs.scoring import score_of
from autotune_platform.apprentice.students.artifacts import digest_of, from_bytes, to_bytes
from autotune_platform.apprentice.students.linear import LinearModel, train
from autotune_platform.apprentice.training.bars import bar_of
from autotune_platform.apprentice.validation.judging import HeldOutAnswer, Judgement, judge
from autotune_platform.apprentice.versions.models import ModelVersion, VersionGate


@dataclass(frozen=True)
class Trained:
    """What came of a training.

    Attributes:
        examples: how many there were.
        learned_from: of these, rows that train.
        judgement: what held-out rows say of it.
        model: the student.
        digest: of its artifact.
        cpu_s: seconds of a processor that training took.
    """

    examples: int
    learned_from: int
    judgement: Judgement
    model: LinearModel
    digest: str
    cpu_s: float


@dataclass(frozen=True)
class Found:
    """An example with its texts."""

    example: Example
    run: Run
    output: str


def trained(
    found: Sequence[Found], document: Mapping[str, Any], *, before: LinearModel | None, attempt: int
) -> Trained | None:
    """Train on examples, and judge by those on the side of the hold-out.

    Args:
        found: in the order of their ids.
        before: the version that serves.

    Returns:
        None where no student could pass on such a hold-out: nothing is trained then.
    """
    split, bar = Split.of(document), bar_of(document, attempt=attempt)
    sides = [(one.example.side(split), one) for one in found]
    learned = [one for side, one in sides if side == "train"]
    held = [one for side, one in sides if side == "holdout" and one.example.is_representative]
    if bar.worth(_drawn(held, split)) < bar.fewest_groups:
        return None
    began = time.process_time()
    content = to_bytes(train((one.run.input, json.loads(one.output)) for one in learned))
    cpu_s = time.process_time() - began
    digest = digest_of(content)
    model = from_bytes(content, digest=digest)
    answers = [_answered(one, split, document, model, before) for one in held]
    return Trained(
        len(found), len(learned), judge(answers, bar, model.candidates), model, digest, cpu_s
    )


def version_of(
    made: Trained, *, number: int, task: ApprenticeTask, training: int, at: datetime
) -> ModelVersion:
    """Return the version that a training made."""
    gate = made.judgement.gate
    return ModelVersion(
        task_id=task.id,
        organization_id=task.organization_id,
        number=number,
        definition_hash=task.definition_hash,
        backend="linear",
        model=f"{task.id}-{training}-{made.digest[:12]}",
        digest=made.digest,
        gate=gate
        and VersionGate(
            confidence=gate.confidence,
            coverage=gate.coverage,
            least_coverage=gate.least_coverage,
        ),
        created_at=at,
        created_by="autotune",
    )


def _drawn(held: Sequence[Found], split: Split) -> list[float]:
    """Return of each group how probable its likeliest example was."""
    drawn: dict[bytes | None, float] = {}
    for one in held:
        group = one.example.digests.group(split.split_by)
        drawn[group] = max(drawn.get(group, 0.0), one.example.propensity or 0.0)
    return list(drawn.values())


def _answered(
    one: Found,
    split: Split,
    document: Mapping[str, Any],
    model: LinearModel,
    before: LinearModel | None,
) -> HeldOutAnswer:
    group = one.example.digests.group(split.split_by)
    assert group is not None
    text, confidence = model.answer(one.run.input)
    other = None if before is None else before.answer(one.run.input)[0]
    return HeldOutAnswer(
        group=group.hex(),
        propensity=one.example.propensity or 1.0,
        score=score_of(document, text, one.output) or 0.0,
        before=None if other is None else score_of(document, other, one.output),
        is_valid=read_output(text, document["outputSchema"]) is not None,
        milliseconds=1,
        confidence=confidence,
    )
