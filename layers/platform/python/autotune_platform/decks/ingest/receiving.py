"""What is handed over at an ingest URL: samples in JSON or in lines of it, and decks."""

import json
from json import JSONDecodeError

from pydantic import ValidationError

from autotune.protocol.deck_telemetry import MatchedSamples
from autotune.protocol.decks import CreateDeckRequest
from autotune.protocol.ids import timed_id
from autotune.protocol.limits import MAX_REQUEST_VALUES
from autotune_platform.access.models import Caller
from autotune_platform.decks.ingest.models import IngestUrl
from autotune_platform.decks.models import WholeDeck
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.sample_requests import SampleRequests
from autotune_platform.decks.service import DeckService
from autotune_platform.decks.telemetry.receipts import call_partition
from autotune_platform.decks.telemetry.uploading import SampleMatching
from autotune_platform.http.problems import invalid_request, too_many_values
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    MalformedRequestError,
)
from autotune_platform.runtime.parts import part

_SAMPLES = "samples"
_DECK_FILE = "+++"


@part
class IngestReceiver:
    """Takes in what programs hand over that sign nothing."""

    matching: SampleMatching
    requests: SampleRequests
    decks: DeckService
    deck_repository: DeckRepository
    clock: Clock = SYSTEM_CLOCK

    def take_samples(
        self, ingest_url: IngestUrl, body: bytes, *, idempotency_key: str | None
    ) -> MatchedSamples:
        """Store samples in the URL's deck, or in those whose system prompts they have.

        Args:
            body: a sample as JSON, a list of them, an object with ``samples``, or a line for each.

        Raises:
            InvalidRequestError: there is no sample.
            RequestTooLargeError: there are too many.
            ConflictError: the URL's deck is archived or gone.
            IdempotencyKeyReusedError: the key came before with another body.
            UnavailableError: a store is busy; some may be stored, and a repeat stores the others.
        """
        organization_id, deck_id = ingest_url.organization_id, ingest_url.deck_id
        if deck_id is not None and not self.deck_repository.usable(organization_id, [deck_id]):
            raise ConflictError("the deck of this ingest URL is archived or was deleted")
        # Keys of one URL are not those of others, which know nothing of them.
        key = None if idempotency_key is None else f"{ingest_url.id} {idempotency_key}"
        return self.matching.add_lines(
            organization_id,
            _as_lines(body),
            collection=ingest_url.samples_are,
            idempotency_key=key,
            deck_id=deck_id,
        )

    def make_deck(
        self,
        caller: Caller,
        ingest_url: IngestUrl,
        body: bytes,
        *,
        is_text: bool,
        name: str | None,
        idempotency_key: str | None,
    ) -> WholeDeck:
        """Make a deck; the same key makes the same one, for seven days.

        Args:
            body: a deck as ``POST /api/v1/decks`` takes it, or its system prompt as it is.
            is_text: whether it is the prompt.
            name: of a deck whose prompt alone is given.

        Raises:
            ForbiddenError: the URL is for samples of one deck.
            InvalidRequestError: a field is wrong.
            TooManyEntitiesError: the organisation has as many decks as it may.
            IdempotencyKeyReusedError: the key came before with another body.
        """
        if ingest_url.deck_id is not None:
            raise ForbiddenError("this ingest URL takes samples of one deck, and makes none")
        request = _prompt_in(body, name) if is_text else _deck_in(body)
        organization_id = ingest_url.organization_id
        if idempotency_key is None:
            return self.decks.create(caller, request)
        known = self.requests.begin(
            organization_id,
            call_partition(organization_id, f"deck {ingest_url.id}"),
            body,
            key=idempotency_key,
            now=self.clock.now(),
        )
        deck_id = timed_id("dck", known.received_at, 0, known.seed)
        return self.decks.create(caller, request, deck_id=deck_id)


def _as_lines(body: bytes) -> bytes:
    """Return samples as a line each, however they come; what is no JSON as a whole as it is."""
    try:
        value = parse_strictly(body.strip(), most_values=MAX_REQUEST_VALUES)
    except (JSONDecodeError, TooManyValuesError):
        return body  # lines, of which each is read by itself
    if isinstance(value, dict) and isinstance(value.get(_SAMPLES), list):
        value = value[_SAMPLES]
    samples = value if isinstance(value, list) else [value]
    return b"\n".join(json.dumps(one).encode() for one in samples)


def _deck_in(body: bytes) -> CreateDeckRequest:
    try:
        value = parse_strictly(body, most_values=MAX_REQUEST_VALUES)
    except TooManyValuesError as error:
        raise too_many_values(error) from error
    except JSONDecodeError as error:
        message = "the body is not JSON; a prompt comes as text/markdown"
        raise MalformedRequestError(message) from error
    try:
        return CreateDeckRequest.model_validate(value)
    except ValidationError as error:
        raise invalid_request(error.errors()) from error


def _prompt_in(body: bytes, name: str | None) -> CreateDeckRequest:
    """Return the deck with a prompt; a line break at its end is not part of it."""
    if name is None:
        raise InvalidRequestError.of_field("name", "the deck's name, as a query parameter")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequestError.of_field("body", "text in UTF-8") from error
    if text.startswith(_DECK_FILE):
        expected = "a prompt, or JSON; `autotune decks import` takes deck files"
        raise InvalidRequestError.of_field("body", expected)
    try:
        return CreateDeckRequest(name=name, system_prompt=text.removesuffix("\n"))
    except ValidationError as error:
        raise invalid_request(error.errors()) from error
