"""``client.decks.graders``: the rubrics of a deck, in versions that never change."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Unpack

from autotune.client.arguments import NotGiven, change_of, fields_of, not_given, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.submissions import LONGEST_KEY, checked_key
from autotune.protocol import deck_proposals, deck_runs
from autotune.protocol import deck_rubrics as wire
from autotune.protocol.levels import LevelsRubric

_grader = returning(wire.DeckGraderResponse, lambda answer: answer.grader)
_graders = returning(wire.DeckGraderList, lambda answer: answer.graders)
_version = returning(wire.GraderVersionResponse, lambda answer: answer.version)
_versions = returning(wire.GraderVersionList, lambda page: (page.versions, page.next_token))

_proposal_estimate = returning(
    deck_proposals.ProposalEstimateResponse, lambda answer: answer.estimate
)
_proposal = returning(deck_runs.DeckRunResponse, lambda answer: answer.run)


def create_grader(
    deck_id: str,
    *,
    name: str,
    rubric: LevelsRubric | Mapping[str, Any],
    judge: wire.DeckJudge | Mapping[str, Any] | None = None,
    origin: Literal["person", "import"] | None = None,
    note: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckGrader]:
    """Make a grader of a deck; it is ``proposed`` and grades nothing before it is activated.

    Args:
        rubric: its criteria, the texts of seven levels from -3 to +3, when it does not apply, and
            examples.
        judge: the connection, the model and its parameters; a grader without one cannot be active.
        origin: ``person`` unless given.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: there is no such connection in this organisation.
        ConflictError: the deck has 20 graders.
    """
    request = request_of(
        wire.CreateDeckGraderRequest,
        name=name,
        rubric=fields_of(rubric),
        judge=fields_of(judge),
        origin=origin,
        note=note,
    )
    return call("POST", "decks", deck_id, "graders", read=_grader, body=request, **options)


def list_graders(deck_id: str, **options: Unpack[CallOptions]) -> Call[Sequence[wire.DeckGrader]]:
    """Return all graders of a deck, oldest first, each with its current version.

    Raises:
        NotFoundError: there is no such deck in this organisation.
    """
    return call("GET", "decks", deck_id, "graders", read=_graders, **options)


def get_grader(
    deck_id: str, grader_id: str, **options: Unpack[CallOptions]
) -> Call[wire.DeckGrader]:
    """Read a grader of a deck with its current version.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
    """
    return call("GET", "decks", deck_id, "graders", grader_id, read=_grader, **options)


def update_grader(
    deck_id: str,
    grader_id: str,
    *,
    name: str | NotGiven = not_given,
    status: Literal["active", "retired"] | NotGiven = not_given,
    version: int | NotGiven = not_given,
    shared_share: float | NotGiven = not_given,
    shared_raters: int | NotGiven = not_given,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckGrader]:
    """Change the fields that are given.

    Args:
        status: ``active`` lets it grade, ``retired`` ends that. A deck that is a draft is active
            from its first active grader on.
        version: one that exists becomes the current one, which is how a change is rolled back.
        shared_share: the share of samples that several people are to rate, from 0 to 1.
        shared_raters: how many these are, from 2 to 5.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
        InvalidRequestError: it cannot be active: it has no judge, or levels that are the same.
        ConflictError: the grader changed at the same time.
    """
    request = change_of(
        wire.UpdateDeckGraderRequest,
        name=name,
        status=status,
        version=version,
        shared_share=shared_share,
        shared_raters=shared_raters,
    )
    path = ("decks", deck_id, "graders", grader_id)
    return call("PATCH", *path, read=_grader, body=request, **options)


def delete_grader(deck_id: str, grader_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a grader that is only proposed.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
        ConflictError: it was activated, so that results may be of it; retire it.
    """
    return call("DELETE", "decks", deck_id, "graders", grader_id, read=nothing, **options)


def add_version(
    deck_id: str,
    grader_id: str,
    *,
    rubric: LevelsRubric | Mapping[str, Any],
    judge: wire.DeckJudge | Mapping[str, Any] | None = None,
    note: str | None = None,
    parent: int | None = None,
    edit_id: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.DeckGraderVersion]:
    """Add a version of a grader, which becomes the current one.

    Args:
        judge: the parent's unless given.
        note: why.
        parent: the version that it was made from, which has to be the current one still.
        edit_id: the edit that made it.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
        InvalidRequestError: it cannot be active as it is.
        ConflictError: another version has become the current one, or there are 200.
    """
    request = request_of(
        wire.CreateGraderVersionRequest,
        rubric=fields_of(rubric),
        judge=fields_of(judge),
        note=note,
        parent=parent,
        edit_id=edit_id,
    )
    path = ("decks", deck_id, "graders", grader_id, "versions")
    return call("POST", *path, read=_version, body=request, **options)


def list_versions(
    deck_id: str,
    grader_id: str,
    *,
    candidate: bool | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[wire.DeckGraderVersion]:
    """Walk through a grader's versions, newest first.

    Args:
        candidate: True for those of edits that are not accepted, False for the others alone.
        page_size: versions fetched at a time, 1 to 200; fewer come where rubrics are long.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
    """
    path = ("decks", deck_id, "graders", grader_id, "versions")
    query = {"candidate": None if candidate is None else str(candidate).lower()}
    return listing(*path, read=_versions, page_size=page_size, query=query, **options)


def get_version(
    deck_id: str, grader_id: str, version: int, **options: Unpack[CallOptions]
) -> Call[wire.DeckGraderVersion]:
    """Read one version of a grader.

    Raises:
        NotFoundError: there is no such deck in this organisation, no such grader of it, or no such
            version of that.
    """
    path = ("decks", deck_id, "graders", grader_id, "versions", str(version))
    return call("GET", *path, read=_version, **options)


def estimate_proposal(
    deck_id: str,
    *,
    proposer: wire.DeckJudge | Mapping[str, Any],
    **options: Unpack[CallOptions],
) -> Call[deck_proposals.ProposalEstimate]:
    """Return what proposing graders would probably cost, and at most; nothing is asked or spent.

    Args:
        proposer: the connection, the model and its parameters.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: the model cannot be asked.
    """
    request = request_of(deck_proposals.ProposeGradersRequest, proposer=fields_of(proposer))
    path = ("decks", deck_id, "graders", "propose", "estimate")
    return call("POST", *path, read=_proposal_estimate, body=request, **options)


def propose_graders(
    deck_id: str,
    *,
    proposer: wire.DeckJudge | Mapping[str, Any],
    judge: wire.DeckJudge | Mapping[str, Any] | None = None,
    cap_nano_usd: int | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[deck_runs.DeckRun]:
    """Have a model propose graders from the deck's system prompt; return before it has.

    ``client.decks.runs.wait_for`` waits for the run. Then its ``proposal`` has the ids of the
    graders, which are ``proposed``, and what was wrong with those that are not kept.

    Args:
        proposer: the connection, the model and its parameters.
        judge: what judges by them; a grader without one cannot be active.
        cap_nano_usd: the most that it may cost, in billionths of a US dollar; what the estimate
            says it costs at most unless given.
        idempotency_key: 1 to 200 visible ASCII characters; the same key and arguments again
            return the first run. A fresh one is made where none is given.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: the model cannot be asked, there is no such connection, or the key came
            before with other arguments.
        ConflictError: the deck is archived or has 20 graders, or the organisation has 20 runs under
            way.
    """
    request = request_of(
        deck_proposals.ProposeGradersRequest,
        proposer=fields_of(proposer),
        judge=fields_of(judge),
        cap_nano_usd=cap_nano_usd,
    )
    return call(
        "POST",
        "decks",
        deck_id,
        "graders",
        "propose",
        read=_proposal,
        body=request,
        idempotency_key=checked_key(idempotency_key, longest=LONGEST_KEY),
        **options,
    )


def publish_grader(
    deck_id: str, grader_id: str, **options: Unpack[CallOptions]
) -> Call[wire.DeckGrader]:
    """Publish the current version of an active grader, by which tasks can score from then on.

    ``published.grader_id`` is what a task names, the same for all versions. How far the judge
    agrees with people by now goes with it; where the same is published already, nothing changes.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such grader of it.
        InvalidRequestError: its connection is revoked, or its texts are too long together.
        ConflictError: it is not active, or changed at the same time; or the organisation has as
            many graders as it may.
    """
    path = ("decks", deck_id, "graders", grader_id, "publish")
    return call("POST", *path, read=_grader, **options)


class DeckGraderMethods:
    """Methods of a deck's graders."""

    _place: ClassVar = "decks.graders"

    create = Method(create_grader)
    list = Method(list_graders)
    get = Method(get_grader)
    update = Method(update_grader)
    delete = Method(delete_grader)
    add_version = Method(add_version)
    versions = ListMethod(list_versions)
    get_version = Method(get_version)
    estimate_proposal = Method(estimate_proposal)
    propose = Method(propose_graders)
    publish = Method(publish_grader)


class DeckGraders(DeckGraderMethods, Resource):
    """Graders of decks, blocking."""


class AsyncDeckGraders(DeckGraderMethods, AsyncResource):
    """Graders of decks, for an event loop."""
