"""SageMaker's own words where it refuses something, as owners of tasks may read them."""

import re
from typing import Final

_MOST_CHARACTERS: Final = 300
_ACCOUNT: Final = re.compile(r"(?<!\d)\d{12}(?!\d)")


def shown(words: str) -> str:
    """Return what is kept of words: at most 300 characters, without numbers of AWS accounts.

    They name roles, models and buckets by their ARNs, and the account is the operator's.
    """
    return _ACCOUNT.sub("…", words)[:_MOST_CHARACTERS]
