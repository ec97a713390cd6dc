"""What a whole run leaves behind, searched for its texts and its secrets."""

from collections.abc import Iterable

from local.records import LocalProfile
from tests.chaos import invariants
from tests.chaos.invariants import Finding
from tests.chaos.texts import TEXT
from tests.support.traces import Places

MOST_EXECUTIONS = 300
"""Of each state machine, the newest: a storm has thousands, which are alike."""


def search(
    profile: LocalProfile, *, api_keys: Iterable[str] = (), secrets: Iterable[str]
) -> Finding:
    """Look through everything that a stack keeps, at the end of a run.

    Args:
        api_keys: further credentials than the profile's.
        secrets: of graders and webhooks.
    """
    places = Places(profile.aws_endpoint_url, since=0, most_executions=MOST_EXECUTIONS)
    keys = [one.partition(".")[2] for one in (profile.api_key, *api_keys)]
    known = [*keys, *(one.removeprefix("whsec_") for one in secrets)]
    return invariants.texts_and_secrets_stay(places.left_behind(), TEXT, known)
