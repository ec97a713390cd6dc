"""What a route may need of whoever calls it; ``routes`` says which needs what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from autotune_platform.access.models import Action, Resource


@dataclass(frozen=True)
class Grant:
    """A permission that the caller's role must have.

    Attributes:
        with_parameter: what is needed besides, by name of a query parameter that asks for more;
            whatever its value, so that no two readings of a query differ in it.
        mints: whether the answer opens a door, such as a new key: the caller's key is read anew,
            where elsewhere one that was just revoked works for another half minute.
    """

    resource: Resource
    action: Action
    with_parameter: "Mapping[str, Grant]" = field(default_factory=lambda: MappingProxyType({}))
    mints: bool = False


class Open(Enum):
    """Needs no permission.

    Attributes:
        ANY_KEY: a signed request of any role.
        PUBLIC: no key at all. The handler itself proves that the caller may, by what is in the
            path, a header or the body; it answers alike where that is unknown and where it is
            wrong.
    """

    ANY_KEY = "any key"
    PUBLIC = "public"


Rule = Grant | Open
