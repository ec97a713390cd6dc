"""Samples that come without a deck, as lines: each finds its own by its system prompt."""

from collections.abc import Sequence

from autotune.protocol.deck_samples import Collection, RejectedLine
from autotune.protocol.deck_telemetry import MatchedLine, MatchedSamples, UnmatchedLine
from autotune.protocol.limits import MAX_MATCHED_SAMPLES
from autotune_platform.decks.conversion import FaultySampleError, conversation_of
from autotune_platform.decks.sample_lines import FaultyLine, Given, faulty_line, read_lines
from autotune_platform.decks.sample_requests import SampleRequest, SampleRequests
from autotune_platform.decks.telemetry.intake import NO_PROMPT, TelemetryIntake
from autotune_platform.decks.telemetry.models import Exchange, Taken
from autotune_platform.decks.telemetry.receipts import call_partition
from autotune_platform.judging.rubric.system_prompts import normalized
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.uploaded_lines import require_few_lines


@part
class SampleMatching:
    """Takes in lines of samples, of any decks of an organisation."""

    intake: TelemetryIntake
    requests: SampleRequests
    clock: Clock = SYSTEM_CLOCK

    def add_lines(
        self,
        organization_id: str,
        body: bytes,
        *,
        collection: Collection,
        idempotency_key: str | None,
        deck_id: str | None = None,
    ) -> MatchedSamples:
        """Store each line whose deck is found, count the others, and say what is wrong with some.

        Args:
            deck_id: the deck that all of them are of, whatever their prompts are.

        Raises:
            InvalidRequestError: there is no line.
            RequestTooLargeError: there are too many lines.
            IdempotencyKeyReusedError: the key came before with another body.
            UnavailableError: a store is busy; some may be stored, and a repeat stores the others.
        """
        require_few(body)
        lines = list(read_lines(body))
        request = self.requests.begin(
            organization_id,
            call_partition(organization_id, f"upload {idempotency_key}"),
            body,
            key=idempotency_key,
            now=self.clock.now(),
        )
        given = [line for line in lines if isinstance(line, Given)]
        faulty = [line for line in lines if isinstance(line, FaultyLine)]
        taken: list[tuple[int, Taken]] = []
        for one in given:
            fault = _fault(one, needs_prompt=deck_id is None)
            if fault is not None:
                faulty.append(fault)
                continue
            what = self.intake.take_in(_exchange(request, one, collection), deck_id=deck_id)
            if what.fault is None:
                taken.append((one.place + 1, what))
            else:
                faulty.append(faulty_line(one.place, "line", what.fault))
        return _answer(taken, faulty)


def require_few(body: bytes) -> None:
    """Require a body to have a line, and not more than a request without a deck may have."""
    require_few_lines(body, most=MAX_MATCHED_SAMPLES, limit="matchedSamples", line="a sample")


def _fault(one: Given, *, needs_prompt: bool) -> FaultyLine | None:
    """Return what is wrong with a sample that is to find its deck; None where nothing is."""
    if one.sample.deck_version is not None:
        expected = "left out: the version is found by the prompt, too"
        return faulty_line(one.place, "deckVersion", expected)
    try:
        text = conversation_of(one.sample).instructions
    except FaultySampleError as error:
        return faulty_line(one.place, error.field, error.expected)
    if needs_prompt and (text is None or not normalized(text)):
        return faulty_line(one.place, "request.messages", NO_PROMPT)
    return None


def _exchange(request: SampleRequest, one: Given, collection: Collection) -> Exchange:
    return Exchange(
        organization_id=request.organization_id,
        source_id=f"upload {request.seed} {one.place}",
        given=one.sample,
        captured_at=request.received_at,
        collection=collection,
    )


def _answer(taken: Sequence[tuple[int, Taken]], faulty: Sequence[FaultyLine]) -> MatchedSamples:
    matched = [
        MatchedLine(line=line, sample_id=one.sample_id, deck_id=one.deck_id)
        for line, one in taken
        if one.sample_id is not None and one.deck_id is not None
    ]
    return MatchedSamples(
        accepted=len(matched),
        samples=matched,
        unmatched=[
            UnmatchedLine(line=line, unmatched_id=one.unmatched_id)
            for line, one in taken
            if one.unmatched_id is not None
        ],
        rejected=[
            RejectedLine(line=one.place + 1, field=one.field, expected=one.expected)
            for one in sorted(faulty, key=lambda one: one.place)
        ],
    )
