"""Putting variables into the texts of a request: ``{{name}}`` stands for the variable ``name``.

Names are letters, digits and underscores, no digit first, 64 at most; a few blanks may stand around
one. All else that has braces is text. What is put in is text too, never a template: a text is
looked through once, from its beginning to its end. So texts that nobody vouches for, such as those
that are judged, travel as variables.
"""

from collections.abc import Mapping

from autotune.protocol.limits import MAX_FILLED_CHARACTERS
from autotune.protocol.llm_templates import PLACE, filled_length
from autotune_platform.runtime.errors import InvalidRequestError


def fill(template: str, variables: Mapping[str, str], *, field: str = "input") -> str:
    """Return a text with its variables put in; one that it does not name is no fault.

    Args:
        field: what an error names.

    Raises:
        MissingVariableError: it names one that is not there, the first such.
        InvalidRequestError: the text would come to more than ``MAX_FILLED_CHARACTERS``, which is
            known before it is built.
    """
    if filled_length(template, variables) > MAX_FILLED_CHARACTERS:
        raise InvalidRequestError.of_field(
            field, f"at most {MAX_FILLED_CHARACTERS} characters once variables are put in"
        )
    return PLACE.sub(lambda place: variables[place[1]], template)
