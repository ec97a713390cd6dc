"""What jobs and hosts of the local SageMaker run in chaos: small programs that need no torch.

A job writes an artifact as ``training_code`` does, of a few numbers. Which way it goes wrong is
said by ``training.lora.alpha``, which is no part of a task's definition.
"""

import io
import sys
import tarfile
from pathlib import Path
from typing import Final

from tests.chaos.student import INTENTS
from tests.support.training_jobs import ANSWERS, PROGRAM, TRAINS

HONEST, TAMPERED, SLOW = 32, 33, 34
"""Values of ``alpha``: the artifact is as it says; it is not; it takes longer than it may, and goes
on from its checkpoint."""

_ALPHA = 'json.loads(channel("SETTINGS"))["lora"]["alpha"]'
TRAIN: Final = (
    PROGRAM
    + f"""
done = pathlib.Path(os.environ["SM_MODEL_DIR"]).parent / "checkpoints" / "done"
if {_ALPHA} == {SLOW} and not done.exists():
    done.parent.mkdir(exist_ok=True)
    done.write_text("half")
    time.sleep(600)
time.sleep(0.5)  # so that it can be interrupted
"""
    + TRAINS.removeprefix(PROGRAM)
    + f"""
if {_ALPHA} == {TAMPERED}:
    (model / "weights.npz").write_bytes((model / "weights.npz").read_bytes() + b"more")
"""
)

MOODS = ("another version", "nonsense", "hangs", "424")
"""What a host answers in place of what it should."""

_RIGHT = '"model": name, "choices": [{"message": message}]'
_MOODY = """
        mood = pathlib.Path(__file__).with_suffix(".mood")
        mood = mood.read_text() if mood.exists() else ""
        if mood == "424":
            return self.answer(500, "it does not work")
        if mood == "hangs":
            time.sleep(20)
        if mood == "nonsense":
            message["content"] = "NaN"
        if mood == "another version":
            name = "another-version"
        self.answer(200, {"""


def archive() -> bytes:
    """Return the archive of the code channel."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        entry = tarfile.TarInfo("train.py")
        entry.size = len(TRAIN.encode())
        opened.addfile(entry, io.BytesIO(TRAIN.encode()))
    return packed.getvalue()


class Host:
    """A base with adapters, which knows what the paid model knows, and has moods."""

    def __init__(self, folder: Path) -> None:
        self._script = folder / "host.py"
        self._script.write_text(script())

    @property
    def command(self) -> list[str]:
        """What starts it."""
        return [sys.executable, str(self._script)]

    def be(self, mood: str) -> None:
        """Have each host answer so from now on; with an empty mood as it should."""
        self._script.with_suffix(".mood").write_text(mood)


def script() -> str:
    """Return the program of a host."""
    before = f"        self.answer(200, {{{_RIGHT}"
    assert ANSWERS.count(before) == 1, "the host that this is made of is another one"
    moody = ANSWERS.replace(before, _MOODY.removeprefix("\n") + _RIGHT)
    return "import pathlib, time\n" + moody.replace("WORDS", repr(sorted(INTENTS)))
