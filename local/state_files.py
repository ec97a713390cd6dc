"""Replaces files of a state all together, also if who does it is killed meanwhile.

New files are written beside the old ones. A mark says that all are complete; from then on they
replace the old ones, and a start does what is left of that. Without the mark they are dropped. Half
of the services would otherwise know what the other half never heard of.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

MARK = "all-complete"
UNFINISHED = ".unfinished"

logger = logging.getLogger(__name__)


def replace_all(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files, all or none of them.

    Where one cannot be written, all stay as they were; the log says why.

    Args:
        folder: It is made if it is not there.
        texts: Of each file, by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    finish(folder)
    try:
        for name, text in texts.items():
            (folder / f"{name}{UNFINISHED}").write_text(text)
        (folder / MARK).touch()
    except OSError:  # the disk is full
        logger.exception("nothing of %s is written", folder)
    finish(folder)


def finish(folder: Path) -> None:
    """Do what is left of a replacement: all of it if its files are complete, else nothing.

    Args:
        folder: It may be missing.
    """
    mark = folder / MARK
    complete = mark.exists()
    for unfinished in folder.glob(f"*{UNFINISHED}"):
        if complete:
            unfinished.replace(unfinished.with_suffix(""))
        else:
            unfinished.unlink()
    mark.unlink(missing_ok=True)
