"""The environment of a function, parsed once into a frozen model."""

import os
from typing import Self

from pydantic import ConfigDict

from autotune_platform.runtime.frozen_model import FrozenModel

_SECRETS_KEY = "SECRETS_KEY_"


class Environment(FrozenModel):
    """Settings of every function; a field is read from the variable of its name in capitals.

    Attributes:
        secrets_keys: ids of the keys that the function derives secrets with, by the kind of the
            secrets: one from each variable ``SECRETS_KEY_<KIND>``.
    """

    model_config = ConfigDict(extra="ignore")

    registry_table: str
    secrets_keys: dict[str, str] = {}

    @classmethod
    def parse(cls) -> Self:
        """Read the process environment.

        Raises:
            pydantic.ValidationError: a variable is missing or cannot be read.
        """
        settings: dict[str, object] = {name.lower(): text for name, text in os.environ.items()}
        settings["secrets_keys"] = {
            name.removeprefix(_SECRETS_KEY).lower().replace("_", "-"): key_id
            for name, key_id in os.environ.items()
            if name.startswith(_SECRETS_KEY)
        }
        return cls.model_validate(settings)
