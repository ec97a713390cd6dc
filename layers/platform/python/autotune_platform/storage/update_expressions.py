"""What updates say, by how many attributes they add to, set, remove and expect something of.

It does not depend on the attributes' names and values, which stand apart: a process writes few
kinds of updates, each many times.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

_KNOWN_KINDS = 256


class UpdateExpressions(NamedTuple):
    """What an update says, with places for its attributes' names and values.

    Attributes:
        names: of all attributes: first those with a value, in the order of ``values``, then those
            that must not be there, then those that go.
        values: of what is added to, of what is set, and of what is expected to be equal, to be at
            most, and to be at least.
        condition: empty where nothing is expected.
    """

    names: Sequence[str]
    values: Sequence[str]
    update: str
    condition: str


@lru_cache(_KNOWN_KINDS)
def update_expressions(
    *,
    added: int,
    changed: int,
    equal: int,
    most: tuple[bool, ...],
    least: int,
    absent: int,
    gone: int,
) -> UpdateExpressions:
    """Return what updates of a kind say.

    Args:
        added: how many attributes are added to; the others likewise, as in ``UpdateExpressions``.
        most: of each attribute with a ceiling, whether 0 is within it.
    """
    values = [f":{place}" for place in range(added + changed + equal + len(most) + least)]
    names = [f"#{place}" for place in range(len(values) + absent + gone)]
    first_gone = len(values) + absent
    pairs = iter(zip(names[: len(values)], values, strict=True))
    adds = [f"{name} {value}" for name, value in islice(pairs, added)]
    sets = [f"{name} = {value}" for name, value in islice(pairs, changed)]
    expected = [f"attribute_not_exists({name})" for name in names[len(values) : first_gone]]
    expected += [f"{name} = {value}" for name, value in islice(pairs, equal)]
    for is_zero_within, (name, value) in zip(most, islice(pairs, len(most)), strict=True):
        below = f"{name} <= {value}"
        # An item without the number has 0 of it, which may be above a ceiling below 0.
        expected.append(f"(attribute_not_exists({name}) OR {below})" if is_zero_within else below)
    expected += [f"{name} >= {value}" for name, value in pairs]
    clauses = [("SET", sets), ("REMOVE", names[first_gone:]), ("ADD", adds)]
    return UpdateExpressions(
        names,
        values,
        " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts),
        " AND ".join(expected),
    )
