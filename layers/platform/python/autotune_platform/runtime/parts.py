"""Classes that are put together from others: each field is a part that is handed in by name."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(kw_only_default=True)
def part(cls: type[T]) -> type[T]:
    """Have a class take its fields by name; unlike data, its instances are not compared."""
    return dataclass(kw_only=True, eq=False, repr=False, match_args=False)(cls)
