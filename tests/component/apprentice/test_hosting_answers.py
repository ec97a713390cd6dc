"""What hosts of adapters are given, and what they answer in each form that they have."""

from datetime import UTC, datetime

import pytest

from autotune_platform.apprentice.hosting.hosts import environment_of
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.local.contract import LocalAnswer, Reason
from tests.support.hostings import ADAPTER, reason_of
from tests.support.lmi_host import environment_fault


def test_answers_of_real_hosts_count_in_each_form_that_they_have(hosted):
    """Of LMI's versions, and of what stands between them and us; see ``lmi_host``."""
    hosting = hosted.ready("1-aa", number=1)
    other = hosted.ready("2-bb", number=2)
    for shape in ("identifier", "alias", "extended", "unnamed", "null"):
        hosted.hosts_answer(shape=shape)
        answer = hosted.ask(hosting)
        assert isinstance(answer, LocalAnswer), (shape, answer)
        assert answer.served_model == hosting.name
    for shape in ("served", "lmi", "/opt/ml/model", other.name):
        hosted.hosts_answer(shape=shape)
        assert reason_of(hosted.ask(hosting)) == Reason.ANOTHER_VERSION, shape
    reasons = {
        424: Reason.NOT_READY,
        503: Reason.NOT_READY,
        429: Reason.BUSY,
        400: Reason.REFUSED,
        500: Reason.FAILED,
    }
    for status, reason in reasons.items():
        hosted.hosts_answer(status=status)
        assert reason_of(hosted.ask(hosting)) == reason, status


def test_an_archive_that_lmi_does_not_load_is_given_up(hosted):
    archives = (
        {"adapter_config.json": '{"r": 16}'},
        {**ADAPTER, "adapter_config.json": '{"r": 32}'},
        {f"adapter/{name}": content for name, content in ADAPTER.items()},
        {**ADAPTER, "model.py": ""},
    )
    wanted = [hosted.wanted(f"{at}-aa", files=files) for at, files in enumerate(archives)]
    for _ in range(5):
        for one in wanted:
            hosted.hostings.want(one)
        hosted.sweep()
    assert [hosted.hostings.want(one).error for one in wanted] == ["failed"] * len(archives)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPTION_ENABLE_LORA", None),
        ("OPTION_ASYNC_MODE", "false"),
        ("OPTION_ROLLING_BATCH", "vllm"),
        ("OPTION_ENTRYPOINT", None),
        ("OPTION_MAX_LORA_RANK", "12"),
        ("OPTION_MAX_MODEL_LEN", None),
        ("HF_MODEL_ID", "org/model"),
    ],
)
def test_a_host_of_adapters_starts_with_all_that_lmi_needs_alone(tmp_path, name, value):
    (tmp_path / "config.json").write_text("{}")
    base = Hosting(
        name="autotune-apt-1-base",
        kind="base",
        task_id="apt_1",
        artifact="s3://models/bases/small/",
        instance_type="ml.g5.xlarge",
        rank=16,
        idle_minutes=30,
        since=datetime.now(UTC),
        due_at=datetime.now(UTC),
    )
    environment = environment_of(base) | {"HF_MODEL_ID": str(tmp_path)}
    assert environment_fault(environment) is None
    changed = {**environment, name: value}
    assert name in str(environment_fault({key: one for key, one in changed.items() if one}))
