"""``client.decks.samples``: what models were asked and answered, to be judged by a deck."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.errors import InvalidInputError
from autotune.client.exchange import Course, Plan, Session
from autotune.client.submissions import BATCH_BYTES_TARGET, checked_key, submission_key
from autotune.protocol import deck_samples as wire
from autotune.protocol import limits
from autotune.protocol.deck_telemetry import MatchedLine, MatchedSamples, UnmatchedLine

_LONGEST_KEY = 200
_DIGEST_CHARACTERS = 32

_added = returning(wire.AddedSamples, lambda answer: answer.samples)
_uploaded = returning(wire.BulkSamples)
_matched = returning(MatchedSamples)
_sample = returning(wire.SampleResponse, lambda answer: answer.sample)
_samples = returning(wire.SampleList, lambda page: (page.samples, page.next_token))

_LineT = TypeVar("_LineT", MatchedLine, UnmatchedLine, wire.RejectedLine)
NewSamples = Iterable[wire.NewSample | Mapping[str, Any]]


@dataclass(frozen=True)
class _Lines:
    """Lines of one upload.

    Attributes:
        offset: how many came before them.
    """

    offset: int
    count: int
    body: bytes

    @property
    def digest(self) -> str:
        """The same lines in the same place have the same."""
        return hashlib.sha256(self.body).hexdigest()[:_DIGEST_CHARACTERS]


def add_samples(
    deck_id: str,
    samples: Sequence[wire.NewSample | Mapping[str, Any]],
    *,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[Sequence[wire.Sample]]:
    """Add up to 100 samples, all of them or none; return them without their texts.

    Args:
        samples: each has ``request`` and ``response`` as OpenAI's chat completions have them, or
            the texts ``input`` and ``output``. One with an ``external_id`` that the deck has is the
            sample that is there.
        idempotency_key: the same one adds nothing the second time, for seven days.

    Raises:
        InvalidInputError: there are none or too many, or a field is wrong; nothing was sent.
        NotFoundError: there is no such deck in this organisation.
        InvalidRequestError: a sample has nothing that can be judged; none is stored.
        ConflictError: the deck has no room for them, or the key came before with others.
    """
    request = request_of(wire.AddSamplesRequest, samples=list(samples))
    key = checked_key(idempotency_key, longest=_LONGEST_KEY)
    path = ("decks", deck_id, "samples")
    return call("POST", *path, read=_added, body=request, idempotency_key=key, **options)


def upload_samples(
    deck_id: str,
    samples: NewSamples,
    *,
    idempotency_key: str | None = None,
    on_progress: Callable[[wire.BulkSamples], None] | None = None,
    **options: Unpack[CallOptions],
) -> Plan[wire.BulkSamples]:
    """Add any number of samples, up to 1,000 in a request; return what came of each.

    A sample that is wrong is in ``rejected``, by its place from 1, and the others are stored. After
    an error, the same samples with the same key add only what is missing.

    Args:
        samples: as ``add`` takes them; each may have ``labels``, a list of ``{"grader", "score",
            "rater", "explanation", "selection"}`` with a level or ``"not_applicable"`` as score.
        idempotency_key: the same one adds nothing the second time, for seven days.
        on_progress: is called with what came of all samples so far.

    Raises:
        InvalidInputError: a sample cannot be sent; those before it may have been added.
        NotFoundError: there is no such deck in this organisation.
        APIError: as for any call; what was added before stays.
    """
    key = submission_key(idempotency_key)

    def upload(session: Session) -> Course[wire.BulkSamples]:
        done = wire.BulkSamples(accepted=0, sample_ids=[], rejected=[])
        for index, lines in enumerate(_packed(samples, most=limits.MAX_BULK_SAMPLES)):
            asked = call(
                "POST",
                "decks",
                deck_id,
                "samples",
                "bulk",
                read=_uploaded,
                body=lines.body,
                idempotency_key=f"{key}.{index}.{lines.digest}",
                **options,
            )
            done = _joined(done, (yield from session.course(asked)), offset=lines.offset)
            if on_progress is not None:
                on_progress(done)
        return done

    return upload


def match_samples(
    samples: NewSamples,
    *,
    collection: wire.Collection = "manual",
    idempotency_key: str | None = None,
    on_progress: Callable[[MatchedSamples], None] | None = None,
    **options: Unpack[CallOptions],
) -> Plan[MatchedSamples]:
    """Add any number of samples to the decks whose system prompts they have, 100 in a request.

    What no deck has is counted under its prompt: ``decks.unmatched``. A sample that is wrong is in
    ``rejected``, by its place from 1. After an error, the same samples with the same key add only
    what is missing.

    Args:
        samples: as ``add`` takes them; each needs a system or developer message.
        collection: how they came: ``manual`` or ``telemetry``.
        idempotency_key: the same one adds and counts nothing the second time, for seven days.
        on_progress: is called with what came of all samples so far.

    Raises:
        InvalidInputError: a sample cannot be sent; those before it may have been added.
        APIError: as for any call; what was added before stays.
    """
    key = submission_key(idempotency_key)

    def match(session: Session) -> Course[MatchedSamples]:
        done = MatchedSamples(accepted=0, samples=[], unmatched=[], rejected=[])
        for index, lines in enumerate(_packed(samples, most=limits.MAX_MATCHED_SAMPLES)):
            asked = call(
                "POST",
                "samples",
                read=_matched,
                body=lines.body,
                query={"collection": collection},
                idempotency_key=f"{key}.{index}.{lines.digest}",
                **options,
            )
            done = _matched_with(done, (yield from session.course(asked)), offset=lines.offset)
            if on_progress is not None:
                on_progress(done)
        return done

    return match


def list_samples(
    deck_id: str,
    *,
    split: wire.Split | None = None,
    model: str | None = None,
    deck_version: int | None = None,
    external_id: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[wire.Sample]:
    """Walk through a deck's samples, newest first, without their texts.

    Args:
        split: only ``development`` or only ``holdout``.
        model: only what this model answered.
        deck_version: only samples that came with this version of the system prompt.
        external_id: only the one sample with this id of yours.
        page_size: samples fetched at a time, 1 to 200; fewer come where it is filtered.

    Raises:
        NotFoundError: there is no such deck in this organisation.
    """
    query = {
        "split": split,
        "model": model,
        "deckVersion": None if deck_version is None else str(deck_version),
        "externalId": external_id,
    }
    path = ("decks", deck_id, "samples")
    return listing(*path, read=_samples, page_size=page_size, query=query, **options)


def get_sample(deck_id: str, sample_id: str, **options: Unpack[CallOptions]) -> Call[wire.Sample]:
    """Read a sample with its texts.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such sample of it.
    """
    return call("GET", "decks", deck_id, "samples", sample_id, read=_sample, **options)


def delete_sample(deck_id: str, sample_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete a sample with its texts, and what was said of it.

    Raises:
        NotFoundError: there is no such deck in this organisation, or no such sample of it.
    """
    return call("DELETE", "decks", deck_id, "samples", sample_id, read=nothing, **options)


def encode_sample(sample: wire.NewSample | Mapping[str, Any], *, place: str) -> bytes:
    """Return a sample as a line of JSON.

    Raises:
        InvalidInputError: JSON cannot hold it, or it is larger than a request may be.
    """
    document = (
        sample.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if isinstance(sample, wire.NewSample)
        else dict(sample)
    )
    try:
        line = json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:  # NaN, Python objects, lone surrogates
        raise InvalidInputError.at(place, f"what JSON can hold ({error})") from error
    if len(line) > limits.MAX_REQUEST_BYTES:
        expected = f"at most {limits.MAX_REQUEST_BYTES} bytes as JSON, not {len(line)}"
        raise InvalidInputError.at(place, expected)
    return line


def _packed(samples: NewSamples, *, most: int) -> Iterator[_Lines]:
    """Yield bodies of so many lines and bytes as they fill, ``most`` lines each."""
    lines: list[bytes] = []
    size = taken = labels = 0
    for sample in samples:
        line = encode_sample(sample, place=f"samples[{taken}]")
        more = _labels_of(sample)
        is_full = len(lines) == most or labels + more > limits.MAX_BULK_LABELS
        if lines and (is_full or size + len(line) > BATCH_BYTES_TARGET):
            yield _Lines(taken - len(lines), len(lines), b"\n".join(lines))
            lines, size, labels = [], 0, 0
        lines.append(line)
        size += len(line) + 1
        labels += more
        taken += 1
    if lines:
        yield _Lines(taken - len(lines), len(lines), b"\n".join(lines))


def _labels_of(sample: wire.NewSample | Mapping[str, Any]) -> int:
    """Return how many labels a sample comes with; what is no list is refused where it is read."""
    if isinstance(sample, wire.NewSample):
        given = getattr(sample, "labels", ())
    else:
        given = sample.get("labels", ())
    return len(given) if isinstance(given, list | tuple) else 0


def _joined(done: wire.BulkSamples, more: wire.BulkSamples, *, offset: int) -> wire.BulkSamples:
    rejected = _moved(more.rejected, offset)
    return wire.BulkSamples(
        accepted=done.accepted + more.accepted,
        sample_ids=[*done.sample_ids, *more.sample_ids],
        rejected=[*done.rejected, *rejected],
        labels=_labels_joined(done.labels, more.labels, offset=offset),
    )


def _labels_joined(
    done: wire.AddedLabels | None, more: wire.AddedLabels | None, *, offset: int
) -> wire.AddedLabels | None:
    if more is None:
        return done
    before = done or wire.AddedLabels(accepted=0, repeated=0, not_blind=0, chosen=0, rejected=[])
    return wire.AddedLabels(
        accepted=before.accepted + more.accepted,
        repeated=before.repeated + more.repeated,
        not_blind=before.not_blind + more.not_blind,
        chosen=before.chosen + more.chosen,
        rejected=[*before.rejected, *_moved(more.rejected, offset)],
    )


def _matched_with(done: MatchedSamples, more: MatchedSamples, *, offset: int) -> MatchedSamples:
    return MatchedSamples(
        accepted=done.accepted + more.accepted,
        samples=[*done.samples, *_moved(more.samples, offset)],
        unmatched=[*done.unmatched, *_moved(more.unmatched, offset)],
        rejected=[*done.rejected, *_moved(more.rejected, offset)],
    )


def _moved(lines: Iterable[_LineT], offset: int) -> Iterator[_LineT]:
    """Yield lines, counted from the first of all."""
    for one in lines:
        yield one.model_copy(update={"line": one.line + offset})


class DeckSampleMethods:
    """Methods of a deck's samples."""

    _place: ClassVar = "decks.samples"

    add = Method(add_samples)
    upload = Method(upload_samples)
    match = Method(match_samples)
    list = ListMethod(list_samples)
    get = Method(get_sample)
    delete = Method(delete_sample)


class DeckSamples(DeckSampleMethods, Resource):
    """Samples of decks, blocking."""


class AsyncDeckSamples(DeckSampleMethods, AsyncResource):
    """Samples of decks, for an event loop."""
