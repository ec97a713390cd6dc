"""A training that cannot be redriven keeps none of the others from it."""

from datetime import UTC, datetime, timedelta
from unittest.mock import MagicMock

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.sweeping import (
    FAILED_AGAIN,
    MOST_REDRIVES,
    TrainingSweeping,
)

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def training(number, *, redrive):
    return Training(
        id=new_id("trn"),
        organization_id=new_id("org"),
        task_id=new_id("apt"),
        task_name="intents",
        number=number,
        redrive=redrive,
        backend="sagemaker",
        configuration_version=1,
        definition_hash="0" * 64,
        created_at=NOW - timedelta(hours=6),
        created_by="key",
        due_at=NOW - timedelta(minutes=1),
    )


def test_one_that_fails_is_put_off_and_the_next_is_redriven():
    lost, other = training(1, redrive=MOST_REDRIVES), training(2, redrive=0)
    progress, executions = MagicMock(), MagicMock()
    progress.clock.now.return_value = NOW
    items = {"lost": lost, "other": other}
    progress.trainings.due.return_value = [{"id": name} for name in items]
    progress.trainings.read.side_effect = lambda item: items[item["id"]]
    progress.trainings.change.return_value = True

    def stop_job(name):
        raise RuntimeError(name)

    sweeping = TrainingSweeping(progress=progress, executions=executions, stop_job=stop_job)
    with pytest.raises(RuntimeError):
        sweeping.sweep(has_time=lambda: True)

    progress.trainings.put_off.assert_called_once_with({"id": "lost"}, NOW + FAILED_AGAIN)
    (redriven,) = [call.args for call in progress.trainings.change.call_args_list]
    assert (redriven[0], redriven[1].redrive) == (other, 1)
    assert executions.method_calls
