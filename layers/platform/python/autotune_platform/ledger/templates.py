"""Putting variables into the texts of a request: ``{{name}}`` stands for the variable ``name``.

Names are letters, digits and underscores, no digit first, 64 at most; a few blanks may stand around
one. All else that has braces is text. What is put in is text too, never a template: a text is
looked through once, from its beginning to its end. So texts that nobody vouches for, such as those
that are judged, travel as variables.
"""

import re
from collections.abc import Mapping

from autotune.protocol.limits import MAX_FILLED_CHARACTERS
from autotune_platform.runtime.errors import InvalidRequestError

_PLACE = re.compile(r"\{\{[ \t]{0,8}([A-Za-z_][A-Za-z0-9_]{0,63})[ \t]{0,8}\}\}")


class MissingVariableError(Exception):
    """A text names a variable that is not given."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no variable {name}")
        self.name = name


def names_in(template: str) -> list[str]:
    """Return the variables that a text names, each once, in the order in which they come."""
    return list(dict.fromkeys(place[1] for place in _PLACE.finditer(template)))


def fill(template: str, variables: Mapping[str, str]) -> str:
    """Return a text with its variables put in; one that it does not name is no fault.

    Raises:
        MissingVariableError: it names one that is not there, the first such.
        InvalidRequestError: the text would come to more than ``MAX_FILLED_CHARACTERS``, which is
            known before it is built.
    """
    length = len(template)
    for place in _PLACE.finditer(template):
        if place[1] not in variables:
            raise MissingVariableError(place[1])
        length += len(variables[place[1]]) - len(place[0])
    if length > MAX_FILLED_CHARACTERS:
        raise InvalidRequestError.of_field(
            "input", f"at most {MAX_FILLED_CHARACTERS} characters once variables are put in"
        )
    return _PLACE.sub(lambda place: variables[place[1]], template)
