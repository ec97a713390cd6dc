"""What a server is started with."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

PYTHON_VARIABLE = "AUTOTUNE_SAGEMAKER_PYTHON"
IMAGES_VARIABLE = "AUTOTUNE_SAGEMAKER_IMAGES"
GRACE_VARIABLE = "AUTOTUNE_SAGEMAKER_GRACE_SECONDS"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a server is started with.

    Attributes:
        directory: Folder for records, logs and scratch folders.
        python: What runs scripts of jobs and of hosts, such as that of an environment with torch.
        images: Commands of hosts by pattern of their image, for images that are servers by
            themselves; hosts of others run the script of their model.
        grace_seconds: Between asking a job to end and killing it; SageMaker has 120.
        look_seconds: How often a job's checkpoints are copied, and its time is looked at.
    """

    directory: Path
    python: str = sys.executable
    images: Mapping[str, list[str]] = field(default_factory=dict)
    grace_seconds: float = 120.0
    look_seconds: float = 0.25

    @classmethod
    def from_environment(cls, directory: Path) -> "Settings":
        """Return what the environment says.

        Raises:
            ValueError: A variable holds nothing of its kind.
        """
        return cls(
            directory=directory,
            python=os.environ.get(PYTHON_VARIABLE, sys.executable),
            images=json.loads(os.environ.get(IMAGES_VARIABLE, "{}")),
            grace_seconds=float(os.environ.get(GRACE_VARIABLE, "120")),
        )

    def server_of(self, image: str | None) -> list[str] | None:
        """Return the command of an image that is a server by itself; None for others."""
        return next(
            (
                command
                for pattern, command in self.images.items()
                if image is not None and fnmatchcase(image, pattern)
            ),
            None,
        )

    @property
    def logs(self) -> Path:
        """Folder for what jobs and hosts print."""
        return self.directory / "logs"

    @property
    def scratch(self) -> Path:
        """Folder for what jobs and hosts read and write; it is emptied by each start."""
        return self.directory / "scratch"
