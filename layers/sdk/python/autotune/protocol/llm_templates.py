"""Places for variables in texts for language models: ``{{name}}``, filled once.

Nothing else has a meaning, and what is put in is never looked through again. All of it takes time
in proportion to the text, whatever that says.
"""

import re
from collections.abc import Mapping

_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
PLACE = re.compile(rf"\{{\{{[ \t]{{0,8}}({_NAME})[ \t]{{0,8}}\}}\}}")
VARIABLE_NAME = re.compile(_NAME)
"""What a variable may be called, as a whole."""


class MissingVariableError(Exception):
    """A text names a variable that is not given."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no variable {name}")
        self.name = name


def names_in(template: str) -> list[str]:
    """Return the variables that a text names, each once, in the order in which they come."""
    return list(dict.fromkeys(place[1] for place in PLACE.finditer(template)))


def filled_length(template: str, variables: Mapping[str, str]) -> int:
    """Return how many characters a text has once its variables are put in, without doing so.

    Raises:
        MissingVariableError: it names one that is not there, the first such.
    """
    length = len(template)
    for place in PLACE.finditer(template):
        if place[1] not in variables:
            raise MissingVariableError(place[1])
        length += len(variables[place[1]]) - len(place[0])
    return length
