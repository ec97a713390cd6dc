"""What all models of the platform have in common."""

from typing import Final

from pydantic import BaseModel, ConfigDict

DEFERRED: Final = ConfigDict(defer_build=True)
"""For adapters of models that one thread uses; pydantic's lock is for building models alone."""


class FrozenModel(BaseModel):
    """A model whose fields do not change.

    It is built when it is first used: a function uses few of the models that it imports, and
    building them all took a sixth of its import. The first request builds those that it needs.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)
