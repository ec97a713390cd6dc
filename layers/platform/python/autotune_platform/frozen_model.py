"""What all models of the platform have in common."""

from typing import Final

from pydantic import BaseModel, ConfigDict

DEFERRED: Final = ConfigDict(defer_build=True)
"""For adapters of several models."""


class FrozenModel(BaseModel):
    """A model whose fields do not change.

    It is built when it is first used: a function uses few of the models that it imports, and
    building them all took a quarter of its cold start.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)
