"""The public names of a package that lists them once, as imports ``name as name``."""

from collections.abc import Mapping
from types import ModuleType

_OF_EVERY_PACKAGE = {"TYPE_CHECKING", "exported"}


def exported(namespace: Mapping[str, object]) -> list[str]:
    """Return the ``__all__`` of a package: what it imported from its modules, without these."""
    return sorted(
        name
        for name, value in namespace.items()
        if not (name.startswith("_") or name in _OF_EVERY_PACKAGE or isinstance(value, ModuleType))
    )
