"""``client.decks``: system prompts in versions, with samples and graders of their own."""

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from autotune.client.arguments import NotGiven, change_of, not_given, request_of
from autotune.client.binding import AsyncResource, InnerPart, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.deck_capture import AsyncDeckCaptures, DeckCaptures
from autotune.client.deck_edits import AsyncDeckEdits, DeckEdits
from autotune.client.deck_graders import AsyncDeckGraders, DeckGraders
from autotune.client.deck_labels import AsyncDeckLabels, DeckLabels
from autotune.client.deck_prompt_edits import AsyncPromptEdits, PromptEdits
from autotune.client.deck_runs import AsyncDeckRuns, DeckRuns
from autotune.client.deck_samples import AsyncDeckSamples, DeckSamples
from autotune.client.deck_unmatched import AsyncUnmatched, Unmatched
from autotune.client.ingest_urls import AsyncIngestUrls, IngestUrls
from autotune.protocol import decks as wire
from autotune.protocol.deck_creation import CreatedDeck, CreateProposedDeckRequest
from autotune.protocol.deck_proposals import ProposeGradersRequest
from autotune.protocol.deck_publishing import CreateDeckTaskRequest
from autotune.protocol.deck_rubrics import DeckJudge
from autotune.protocol.levels import Uncalibrated
from autotune.protocol.tasks import Aggregation, Task, TaskResponse

_created = returning(CreatedDeck)
_deck = returning(wire.DeckResponse, lambda answer: answer.deck)
_decks = returning(wire.DeckList, lambda page: (page.decks, page.next_token))
_version = returning(wire.DeckVersionResponse, lambda answer: answer.version)
_task = returning(TaskResponse, lambda answer: answer.task)
_versions = returning(wire.DeckVersionList, lambda page: (page.versions, page.next_token))


def create_deck(
    *,
    name: str,
    system_prompt: str,
    description: str | None = None,
    holdout_share: float | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.Deck]:
    """Make a deck from a system prompt.

    Args:
        system_prompt: up to 50,000 characters; ``{{name}}`` stands for what differs from one
            request to another.
        holdout_share: share of the groups of samples that is held out, 0 to 1; 0.5 without it, and
            1 for a deck that only measures. It never changes.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
    """
    request = request_of(
        wire.CreateDeckRequest,
        name=name,
        description=description,
        system_prompt=system_prompt,
        holdout_share=holdout_share,
    )
    return call("POST", "decks", read=_deck, body=request, **options)


def create_proposed_deck(
    *,
    name: str,
    system_prompt: str,
    proposer: DeckJudge | Mapping[str, Any],
    judge: DeckJudge | Mapping[str, Any] | None = None,
    cap_nano_usd: int | None = None,
    description: str | None = None,
    holdout_share: float | None = None,
    **options: Unpack[CallOptions],
) -> Call[CreatedDeck]:
    """Make a deck, and have a model propose graders from its prompt at once.

    ``run`` of what is returned is the proposal's; ``decks.runs.get`` says what has come of it.

    Args:
        name: as for ``create``; so with prompt, description and share.
        proposer: the model that proposes; so with the others, as for ``graders.propose``.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: the model cannot be asked; no deck is made.
        ConflictError: there are as many decks, or runs under way, as there may be; none is made.
    """
    request = request_of(
        CreateProposedDeckRequest,
        name=name,
        description=description,
        system_prompt=system_prompt,
        holdout_share=holdout_share,
        propose=request_of(
            ProposeGradersRequest, proposer=proposer, judge=judge, cap_nano_usd=cap_nano_usd
        ),
    )
    return call("POST", "decks", read=_created, body=request, **options)


def get_deck(deck_id: str, **options: Unpack[CallOptions]) -> Call[wire.Deck]:
    """Read a deck with its current system prompt.

    Raises:
        NotFoundError: there is no such deck in this organisation.
    """
    return call("GET", "decks", deck_id, read=_deck, **options)


def list_decks(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.Deck]:
    """Walk through the organisation's decks, oldest first, without their system prompts.

    Args:
        page_size: decks fetched at a time, 1 to 200.
    """
    return listing("decks", read=_decks, page_size=page_size, **options)


def update_deck(
    deck_id: str,
    *,
    name: str | NotGiven = not_given,
    description: str | NotGiven = not_given,
    status: wire.DeckStatus | NotGiven = not_given,
    version: int | NotGiven = not_given,
    **options: Unpack[CallOptions],
) -> Call[wire.Deck]:
    """Change the fields that are given.

    Args:
        status: ``draft``, ``active`` or ``archived``.
        version: one that exists becomes the current one, which is how a change is rolled back.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: there is no such version.
        ConflictError: the deck changed at the same time.
    """
    request = change_of(
        wire.UpdateDeckRequest, name=name, description=description, status=status, version=version
    )
    return call("PATCH", "decks", deck_id, read=_deck, body=request, **options)


def delete_deck(deck_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a deck with its graders and samples; their texts are gone within minutes.

    Raises:
        NotFoundError: there is no such deck in this organisation.
        ConflictError: the deck changed at the same time.
    """
    return call("DELETE", "decks", deck_id, read=nothing, **options)


def add_version(
    deck_id: str,
    *,
    system_prompt: str,
    note: str | None = None,
    parent: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckVersion]:
    """Add a version of a deck's system prompt, which becomes the current one.

    Args:
        note: why.
        parent: the version that it was made from, which has to be the current one still.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        ConflictError: another version has become the current one, or there are 200.
    """
    request = request_of(
        wire.CreateDeckVersionRequest, system_prompt=system_prompt, note=note, parent=parent
    )
    return call("POST", "decks", deck_id, "versions", read=_version, body=request, **options)


def list_versions(
    deck_id: str, *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.DeckVersion]:
    """Walk through a deck's versions, newest first.

    Args:
        page_size: versions fetched at a time, 1 to 200; fewer come where prompts are long.

    Raises:
        NotFoundError: there is no such deck in this organisation.
    """
    return listing("decks", deck_id, "versions", read=_versions, page_size=page_size, **options)


def get_version(
    deck_id: str, version: int, **options: Unpack[CallOptions]
) -> Call[wire.DeckVersion]:
    """Read one version of a deck.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such version of it.
    """
    return call("GET", "decks", deck_id, "versions", str(version), read=_version, **options)


def create_task(
    deck_id: str,
    *,
    name: str | None = None,
    aggregation: Aggregation | None = None,
    quorum: int | None = None,
    deadline_seconds: int | None = None,
    uncalibrated: Uncalibrated | None = None,
    **options: Unpack[CallOptions],
) -> Call[Task]:
    """Make a task in which every active grader of a deck scores that is published.

    Args:
        name: the deck's unless given.
        aggregation: how their values become one; their mean unless given.
        quorum: how many have to score; one unless given, because a grader abstains where its
            question does not apply.
        deadline_seconds: as of any task.
        uncalibrated: as of any task.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        ConflictError: no grader of it is active and published, or more than a task may have; or
            one is not calibrated, and such ones are to be refused.
    """
    request = request_of(
        CreateDeckTaskRequest,
        name=name,
        aggregation=aggregation,
        quorum=quorum,
        deadline_seconds=deadline_seconds,
        uncalibrated=uncalibrated,
    )
    return call("POST", "decks", deck_id, "task", read=_task, body=request, **options)


class DeckMethods:
    """Methods of decks."""

    _place: ClassVar = "decks"

    graders = InnerPart(DeckGraders, AsyncDeckGraders)
    samples = InnerPart(DeckSamples, AsyncDeckSamples)
    labels = InnerPart(DeckLabels, AsyncDeckLabels)
    runs = InnerPart(DeckRuns, AsyncDeckRuns)
    edits = InnerPart(DeckEdits, AsyncDeckEdits)
    prompt_edits = InnerPart(PromptEdits, AsyncPromptEdits)
    capture = InnerPart(DeckCaptures, AsyncDeckCaptures)
    unmatched = InnerPart(Unmatched, AsyncUnmatched)
    ingest_urls = InnerPart(IngestUrls, AsyncIngestUrls)

    create = Method(create_deck)
    create_proposed = Method(create_proposed_deck)
    get = Method(get_deck)
    list = ListMethod(list_decks)
    update = Method(update_deck)
    delete = Method(delete_deck)
    add_version = Method(add_version)
    versions = ListMethod(list_versions)
    get_version = Method(get_version)
    create_task = Method(create_task)


class Decks(DeckMethods, Resource):
    """Decks, blocking."""


class AsyncDecks(DeckMethods, AsyncResource):
    """Decks, for an event loop."""
