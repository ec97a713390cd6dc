"""Has MiniStack save the state of one moment when it stops, by the encoder that is written in C.

Functions are still at work then. Their threads took turns with the one that saves, every 5 ms, so
that saving took several times as long; what they added to a service's state while it was copied
("dictionary changed size during iteration") lost all of that service's state; and what they changed
between two services was saved by one of them. ``json.dump`` writes piece by piece, which only the
slow encoder can.
"""

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ministack import app
from ministack.core import persistence

from local import state_files

UNDISTURBED_SECONDS = 5.0
"""How long the thread that saves goes on before others take their turn; it needs some tenths."""

logger = logging.getLogger(__name__)


def install() -> None:
    """Change the MiniStack of this process."""
    app.save_all = save_all


def save_all(states: Mapping[str, Callable[[], Any]]) -> None:
    """Save what services know, each in its file, as MiniStack does and reads it.

    Of a service whose state cannot be had, the file stays as it was; the log says why.

    Args:
        states: a function for each service that returns its state, or None for nothing to save.
    """
    with undisturbed():
        texts = {name: _text(name, get_state) for name, get_state in states.items()}
    files = {f"{name}.json": text for name, text in texts.items() if text is not None}
    state_files.replace_all(Path(persistence.STATE_DIR), files)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Have no other thread take its turn, unless this one waits for something."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(UNDISTURBED_SECONDS)
    try:
        time.sleep(2 * interval)  # who waits already took it that their turn comes as soon as ever
        yield
    finally:
        sys.setswitchinterval(interval)


def _text(service: str, get_state: Callable[[], Any]) -> str | None:
    try:
        state = get_state()
        if state is None:
            return None
        version = persistence._state_format_version(service)  # noqa: SLF001 - nothing else tells
        return json.dumps(
            {"__ministack_format__": version, "payload": state},
            default=persistence._json_default,  # noqa: SLF001 - what it reads again
        )
    except Exception:  # whatever it is, the others are saved
        logger.exception("the state of %s is not saved", service)
        return None
