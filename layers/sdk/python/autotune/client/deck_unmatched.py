"""``client.decks.unmatched``: system prompts of captured calls that no deck has."""

from typing import ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, Method, Resource
from autotune.client.calls import Call, CallOptions, call, nothing, returning
from autotune.protocol import deck_telemetry as wire

_prompts = returning(wire.UnmatchedPromptList)
_prompt = returning(wire.UnmatchedPromptResponse, lambda answer: answer.prompt)
_adopted = returning(wire.AdoptedPrompt)


def list_unmatched(**options: Unpack[CallOptions]) -> Call[wire.UnmatchedPromptList]:
    """Read all prompts that no deck has, those with most calls first: 200 at most.

    ``passed_over`` is how many calls had further prompts, for which the list had no room.
    """
    return call("GET", "unmatched-prompts", read=_prompts, **options)


def get_unmatched(unmatched_id: str, **options: Unpack[CallOptions]) -> Call[wire.UnmatchedPrompt]:
    """Read the whole of a prompt that no deck has, with up to ten of its calls.

    Raises:
        NotFoundError: there is none in this organisation, or it is not listed any more.
    """
    return call("GET", "unmatched-prompts", unmatched_id, read=_prompt, **options)


def adopt(
    unmatched_id: str,
    *,
    name: str,
    description: str | None = None,
    holdout_share: float | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.AdoptedPrompt]:
    """Make a deck of a prompt that no deck has; the calls kept with it become samples.

    Where one deck has the prompt by now, that one gets the samples. A repeat returns the same deck.

    Args:
        name: the deck's; so with the others, which are as for any deck.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such prompt in this organisation.
        ConflictError: several decks have it, or there are as many decks as there may be.
    """
    request = request_of(
        wire.AdoptPromptRequest, name=name, description=description, holdout_share=holdout_share
    )
    path = ("unmatched-prompts", unmatched_id, "deck")
    return call("POST", *path, read=_adopted, body=request, **options)


def dismiss(unmatched_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Erase a prompt that no deck has, and its calls; it is not listed again for 90 days.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("DELETE", "unmatched-prompts", unmatched_id, read=nothing, **options)


class UnmatchedMethods:
    """Methods of prompts that no deck has."""

    _place: ClassVar = "decks.unmatched"

    list = Method(list_unmatched)
    get = Method(get_unmatched)
    adopt = Method(adopt)
    dismiss = Method(dismiss)


class Unmatched(UnmatchedMethods, Resource):
    """Prompts that no deck has, blocking."""


class AsyncUnmatched(UnmatchedMethods, AsyncResource):
    """Prompts that no deck has, for an event loop."""
