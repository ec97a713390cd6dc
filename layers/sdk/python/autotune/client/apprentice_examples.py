"""``client.apprentice.examples``: what a small model learns from, and is judged by."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, Unpack

from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.errors import InvalidInputError
from autotune.client.exchange import Course, Plan, Session
from autotune.client.submissions import BATCH_BYTES_TARGET
from autotune.protocol import apprentice_examples as wire
from autotune.protocol.limits import MAX_EXAMPLES_AT_ONCE, MAX_REQUEST_BYTES

_imported = returning(wire.ImportedExamples)
_examples = returning(wire.ApprenticeExampleList, lambda page: (page.examples, page.next_token))
_counts = returning(wire.ApprenticeExampleCountsResponse, lambda answer: answer.counts)

NewExamples: TypeAlias = Iterable[
    wire.NewApprenticeExample | wire.ApprenticeExample | Mapping[str, Any]
]


@dataclass(frozen=True)
class _Lines:
    """Lines of one request; ``offset`` came before them."""

    offset: int
    body: bytes


def import_examples(
    name: str,
    examples: NewExamples,
    *,
    on_progress: Callable[[wire.ImportedExamples], None] | None = None,
    **options: Unpack[CallOptions],
) -> Plan[wire.ImportedExamples]:
    """Add any number of examples to a task's present definition, up to 1,000 in a request.

    One that is wrong is in ``rejected``, by its place from 1, and the others are stored. The same
    one again is the same example, so that after an error all of them may be sent again.

    Args:
        name: of the task.
        examples: each has ``input`` and ``output``; what ``list`` says of one beside that may
            stay, and says nothing of what is made of it.
        on_progress: is called with what came of all examples so far.

    Raises:
        InvalidInputError: an example cannot be sent; those before it may have been added.
        NotFoundError: there is no such task in this organisation.
        ConflictError: the definition has as many imported examples as it may.
        APIError: as for any call; what was added before stays.
    """

    def bring(session: Session) -> Course[wire.ImportedExamples]:
        done = wire.ImportedExamples(added=0, repeated=0, rejected=[])
        for lines in _packed(examples):
            asked = call(
                "POST",
                *_examples_of(name),
                read=_imported,
                body=lines.body,
                is_idempotent=True,
                **options,
            )
            done = _joined(done, (yield from session.course(asked)), lines.offset)
            if on_progress is not None:
                on_progress(done)
        return done

    return bring


def list_examples(
    name: str,
    *,
    definition_hash: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[wire.ApprenticeExample]:
    """Walk through a definition's examples with their texts.

    Args:
        name: of the task.
        definition_hash: the present one without it.
        page_size: examples fetched at a time, 1 to 200; fewer come where they are long.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    query = {"definitionHash": definition_hash}
    path = _examples_of(name)
    return listing(*path, read=_examples, page_size=page_size, query=query, **options)


def count_examples(
    name: str, *, definition_hash: str | None = None, **options: Unpack[CallOptions]
) -> Call[wire.ApprenticeExampleCounts]:
    """Read how many examples a definition has, by selection and by side.

    Args:
        name: of the task.
        definition_hash: the present one without it.

    Raises:
        NotFoundError: there is no such task in this organisation.
    """
    query = {"definitionHash": definition_hash}
    return call("GET", *_examples_of(name), "counts", read=_counts, query=query, **options)


def delete_example(name: str, example_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete an example, so that nothing learns from it; its run stays.

    Raises:
        NotFoundError: there is no such task in this organisation, or no such example of it.
    """
    return call("DELETE", *_examples_of(name), example_id, read=nothing, **options)


def _examples_of(name: str) -> tuple[str, ...]:
    return "apprentice", "tasks", name, "examples"


def _packed(examples: NewExamples) -> Iterator[_Lines]:
    lines: list[bytes] = []
    size = taken = 0
    for example in examples:
        line = _line(example, taken)
        if lines and (len(lines) == MAX_EXAMPLES_AT_ONCE or size + len(line) > BATCH_BYTES_TARGET):
            yield _Lines(taken - len(lines), b"\n".join(lines))
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 1
        taken += 1
    if lines:
        yield _Lines(taken - len(lines), b"\n".join(lines))


def _line(
    example: wire.NewApprenticeExample | wire.ApprenticeExample | Mapping[str, Any], place: int
) -> bytes:
    document = (
        dict(example)
        if isinstance(example, Mapping)
        else example.model_dump(mode="json", by_alias=True, include={"input", "output"})
    )
    try:
        line = json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:  # NaN, Python objects, lone surrogates
        raise InvalidInputError.at(f"examples[{place}]", f"what JSON can hold ({error})") from error
    if len(line) > MAX_REQUEST_BYTES:
        expected = f"at most {MAX_REQUEST_BYTES} bytes as JSON, not {len(line)}"
        raise InvalidInputError.at(f"examples[{place}]", expected)
    return line


def _joined(
    done: wire.ImportedExamples, more: wire.ImportedExamples, offset: int
) -> wire.ImportedExamples:
    moved = [one.model_copy(update={"line": one.line + offset}) for one in more.rejected]
    return wire.ImportedExamples(
        added=done.added + more.added,
        repeated=done.repeated + more.repeated,
        rejected=[*done.rejected, *moved],
    )


class ApprenticeExampleMethods:
    """Methods of examples; ``import`` is a word of Python."""

    _place: ClassVar = "apprentice.examples"

    add = Method(import_examples)
    list = ListMethod(list_examples)
    counts = Method(count_examples)
    delete = Method(delete_example)


class ApprenticeExamples(ApprenticeExampleMethods, Resource):
    """A task's examples, blocking."""


class AsyncApprenticeExamples(ApprenticeExampleMethods, AsyncResource):
    """A task's examples, for an event loop."""
