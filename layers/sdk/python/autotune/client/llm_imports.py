"""Imports: a file of requests to language models, uploaded, started and waited for."""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

import httpx

from autotune.client.arguments import request_of
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.downloads import keep_signed_urls_out_of_logs
from autotune.client.errors import (
    DownloadError,
    WaitTimeoutError,
)
from autotune.client.exchange import (
    Course,
    Fetch,
    Pause,
    Plan,
    Session,
)
from autotune.client.llm_uploading import failed_transfer, size_of, uploaded
from autotune.client.submissions import submission_key
from autotune.protocol.llm_imports import (
    CreateLlmImportRequest,
    LlmImport,
    LlmImportDefaults,
    LlmImportFormat,
    LlmImportLineError,
    LlmImportList,
    LlmImportResponse,
    LlmImportRule,
    LlmImportState,
)

_ENDED: frozenset[LlmImportState] = frozenset({"completed", "failed", "canceled"})
_FIRST_GAP_SECONDS = 0.5
_LONGEST_GAP_SECONDS = 10.0

_import = returning(LlmImportResponse, lambda answer: answer.llm_import)
_imports = returning(LlmImportList, lambda page: (page.imports, page.next_token))


def list_imports(
    *,
    state: LlmImportState | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[LlmImport]:
    """Walk through the organisation's imports of the last 7 days, the youngest first.

    They come without links; ``get_import`` has those.

    Args:
        state: ``awaiting_upload``, ``running``, ``waiting``, ``completed``, ``failed`` or
            ``canceled``.
        page_size: imports fetched at a time, 1 to 200.
    """
    return listing(
        "llm-imports", read=_imports, page_size=page_size, query={"state": state}, **options
    )


def get_import(import_id: str, **options: Unpack[CallOptions]) -> Call[LlmImport]:
    """Read an import: how far it is, and which lines were rejected first.

    Raises:
        NotFoundError: there is no such import in this organisation, or it is over 7 days old.
    """
    return call("GET", "llm-imports", import_id, read=_import, **options)


def delete_import(import_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Stop an import and delete its files; requests that it has enqueued stay.

    Raises:
        NotFoundError: there is no such import in this organisation, or it is over 7 days old.
    """
    return call("DELETE", "llm-imports", import_id, read=nothing, **options)


def import_errors(import_id: str, **options: Unpack[CallOptions]) -> Plan[list[LlmImportLineError]]:
    """Fetch all lines that an import has rejected, in order, at most 100,001.

    Raises:
        NotFoundError: there is no such import in this organisation, or it is over 7 days old.
        ConflictError: it has not ended.
        DownloadError: the report could not be fetched.
    """

    def fetch(session: Session) -> Course[list[LlmImportLineError]]:
        found = yield from session.course(get_import(import_id, **options))
        if found.report is None:
            return found.errors
        keep_signed_urls_out_of_logs()
        body = bytearray()
        reply = yield Fetch(
            url=found.report.url, take=body.extend, timeout=session.timeout_for(60.0)
        )
        if not (isinstance(reply, httpx.Response) and reply.is_success):
            raise failed_transfer(reply, lambda reason: DownloadError("the report", reason))
        return [LlmImportLineError.model_validate_json(line) for line in body.splitlines()]

    return fetch


def import_file(
    path: str | Path,
    *,
    format: LlmImportFormat,  # noqa: A002 - as the API calls it
    connection_id: str,
    purpose: str,
    defaults: LlmImportDefaults | Mapping[str, Any] | None = None,
    on_error: LlmImportRule | None = None,
    idempotency_key: str | None = None,
    on_upload: Callable[[int], None] | None = None,
    on_progress: Callable[[LlmImport], None] | None = None,
    timeout: float | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[LlmImport]:
    """Upload a file of up to 200 MB of requests, start its import and wait until that has ended.

    The same call with the same key goes on where an earlier one was: it uploads what is not there,
    starts what is not started, and waits for what is under way.

    Args:
        path: JSON lines in UTF-8.
        format: ``openai`` and ``anthropic`` for lines of their batch APIs; ``autotune`` for lines
            that are ``EnqueueLlmRequest``s.
        connection_id: where they are asked, unless a line of ours names another.
        purpose: what they are for, unless a line of ours says it.
        defaults: what lines have that leave it out: ``LlmImportDefaults``, or its fields.
        on_error: ``rejectLine`` (default) leaves out what is wrong; ``rejectAll`` checks all lines
            first, and enqueues none where one is wrong.
        idempotency_key: 1 to 140 visible ASCII characters. A fresh one is made where none is given.
        on_upload: gets how many bytes of the file are read for its upload, each time it is more.
        on_progress: gets the import, each time it is read.
        timeout: seconds to wait for its end; None waits for ever. The import goes on without us.

    Raises:
        InvalidInputError: an argument is out of its range, or the file is empty or too large.
        LocalFileError: the file cannot be read.
        UploadError: the file could not be uploaded.
        WaitTimeoutError: the import had not ended after ``timeout``.
        InvalidRequestError: the connection is not the organisation's, or revoked.
        RateLimitError: too many imports are under way; see ``limit``.
    """
    file = Path(path)
    size = size_of(file)
    request = request_of(
        CreateLlmImportRequest,
        format=format,
        bytes=size,
        connection_id=connection_id,
        purpose=purpose,
        defaults=defaults,
        on_error=on_error,
    )
    key = submission_key(idempotency_key)
    shared: CallOptions = {"extra_headers": extra_headers}

    def run(session: Session) -> Course[LlmImport]:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        made = yield from session.course(
            call(
                "POST",
                "llm-imports",
                read=_import,
                body=request,
                idempotency_key=key,
                **shared,
            )
        )
        if made.upload is not None:
            yield from uploaded(session, file, made.upload, on_upload)
            made = yield from session.course(
                call(
                    "POST",
                    "llm-imports",
                    made.id,
                    "start",
                    read=_import,
                    is_idempotent=True,
                    **shared,
                )
            )
        return (
            yield from until_ended(
                session,
                made,
                deadline=deadline,
                timeout=timeout,
                options=shared,
                on_progress=on_progress,
            )
        )

    return run


def until_ended(
    session: Session,
    made: LlmImport,
    *,
    deadline: float,
    timeout: float | None,
    options: CallOptions,
    on_progress: Callable[[LlmImport], None] | None = None,
) -> Course[LlmImport]:
    """Wait for the end of an import, and return it as it is then.

    Raises:
        WaitTimeoutError: it had not ended at ``deadline``, which was ``timeout`` seconds away.
    """
    gap = _FIRST_GAP_SECONDS
    while True:
        if on_progress is not None:
            on_progress(made)
        if made.state in _ENDED:
            return made
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(f"import {made.id} was {made.state} after {timeout:g} s")
        yield Pause(min(gap, max(0.0, deadline - time.monotonic())))
        gap = min(2 * gap, _LONGEST_GAP_SECONDS)
        made = yield from session.course(get_import(made.id, **options))
