"""From how many US dollars a day on what small models cost calls a person."""

from typing import Final

USD_A_DAY: Final = 100
"""Three instances of the least with a GPU that are awake all day cost as much."""
_MOST_DIGITS: Final = 7


class InvalidAlarmError(ValueError):
    """A context value that is US dollars a day is neither a whole number nor ``none``."""


def alarm_usd(name: str, given: object) -> int | None:
    """Returns from how many US dollars a day on an alarm is raised; None for no alarm.

    Args:
        name: Of the context value.
        given: The context value: a whole number from 1, or ``none``; 100 if None.

    Raises:
        InvalidAlarmError: It is something else.
    """
    if given is None:
        return USD_A_DAY
    said = str(given)
    if said == "none":
        return None
    if not (said.isascii() and said.isdecimal() and len(said) <= _MOST_DIGITS and int(said)):
        raise InvalidAlarmError(
            f"{name} is {given!r}, expected US dollars a day such as {USD_A_DAY}, or none"
        )
    return int(said)
