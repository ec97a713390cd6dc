"""What jobs and hosts of the local SageMaker run in chaos: small programs that need no torch.

A job writes an artifact as ``training_code`` does, of a few numbers. Which way it goes wrong is
said by ``training.lora.alpha``, which is no part of a task's definition.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.chaos.student import INTENTS
from tests.support.training_jobs import PROGRAM, TRAINS

HONEST, TAMPERED, SLOW = 32, 33, 34
"""Values of ``alpha``: the artifact is as it says; it is not; it takes longer than it may, and goes
on from its checkpoint."""

SLOW_SECONDS = 120
"""Where a job's time was over before its program had begun, the next one takes as long."""

_ALPHA = 'json.loads(channel("SETTINGS"))["lora"]["alpha"]'
TRAIN: Final = (
    PROGRAM
    + f"""
done = pathlib.Path(os.environ["SM_MODEL_DIR"]).parent / "checkpoints" / "done"
if {_ALPHA} == {SLOW} and not done.exists():
    done.parent.mkdir(exist_ok=True)
    done.write_text("half")
    time.sleep({SLOW_SECONDS})
time.sleep(0.5)  # so that it can be interrupted
"""
    + TRAINS.removeprefix(PROGRAM)
    + f"""
if {_ALPHA} == {TAMPERED}:
    (model / "weights.npz").write_bytes((model / "weights.npz").read_bytes() + b"more")
"""
)

MOODS: Final[Mapping[str, Mapping[str, Any]]] = {
    "another version": {"shape": "another-version"},
    "no version": {"shape": "unnamed"},
    "nonsense": {"says": "NaN"},
    "500": {"status": 500},
    "hangs": {"seconds": 20},
}
"""What a host answers in place of what it should, as settings of ``tests.support.lmi_host``."""


class Host:
    """A base with adapters, which knows what the paid model knows, and has moods.

    Args:
        folder: where ``job_trainings`` has its settings.
    """

    def __init__(self, folder: Path) -> None:
        self._settings = folder / "lmi.json"
        self.be({})

    def be(self, mood: Mapping[str, Any]) -> None:
        """Have each host answer so from now on; with an empty mood as it should."""
        self._settings.write_text(json.dumps({"known": list(INTENTS), **mood}))
