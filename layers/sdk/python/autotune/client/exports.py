"""``client.exports``: scores of any number as training data."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Unpack

from autotune.client.arguments import Timeout, fields_of, not_given, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, OwnMethod, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.downloads import Download, DownloadedExport, DownloadProgress
from autotune.client.errors import InvalidInputError, WaitTimeoutError
from autotune.client.exchange import Course, Pause, Plan, Session, Work
from autotune.client.filters import FilterOptions, score_filters
from autotune.client.submissions import LONGEST_KEY, checked_key
from autotune.client.waiting import GAP_GROWTH
from autotune.protocol import exports

DEFAULT_CONCURRENCY = 4

_FIRST_LOOK_AFTER_SECONDS = 0.5
_LONGEST_GAP_SECONDS = 5.0

_export = returning(exports.ExportResponse, lambda answer: answer.export)
_exports = returning(exports.ExportList, lambda page: (page.exports, page.next_token))


def create_export(
    *,
    format: exports.ExportFormat,  # noqa: A002 - its name on the wire
    shape: exports.ExportShape | None = None,
    preference: exports.PreferenceOptions | Mapping[str, Any] | None = None,
    unpaired: exports.UnpairedOptions | Mapping[str, Any] | None = None,
    stepwise: exports.StepwiseOptions | Mapping[str, Any] | None = None,
    llm_requests: exports.LlmRequestsOptions | Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[FilterOptions],
) -> Call[exports.ExportDetails]:
    """Have the verdicts that match, as of now, written to files; return before they are.

    Args:
        format: ``jsonl`` (gzipped), ``parquet`` or ``tfrecord``.
        shape: ``scores`` (default), ``preference``, ``unpaired``, ``stepwise`` or
            ``llm_requests``, which takes none of the filters of scores.
        min_score: lowest score, 0 to 1, included; as ``max_score``.
        start_date: the earliest decision, included. A time without a zone is local.
        end_date: the latest decision, left out.
        preference: how pairs are made, such as ``{"min_score_delta": 0.2, "sample_size": 10_000}``.
        unpaired: from which score on a response is good, such as ``{"threshold": 0.7}``.
        stepwise: the same of a step, and what separates steps.
        llm_requests: which requests to language models, and their layout, such as
            ``{"import_id": "lim_…", "layout": "openai"}``.
        idempotency_key: 1 to 200 visible ASCII characters; the same key and arguments again
            return the first export. A fresh one is made where none is given.

    Raises:
        InvalidInputError: an argument is out of its range, or options are of another shape;
            nothing was sent.
        InvalidRequestError: there is no such task in this organisation, or the key came before
            with other arguments.
    """
    filters, call_options = score_filters(options)
    request = request_of(
        exports.CreateExportRequest,
        format=format,
        shape=shape,
        filters=filters,
        preference=fields_of(preference),
        unpaired=fields_of(unpaired),
        stepwise=fields_of(stepwise),
        llm_requests=fields_of(llm_requests),
    )
    return call(
        "POST",
        "exports",
        read=_export,
        body=request,
        idempotency_key=checked_key(idempotency_key, longest=LONGEST_KEY),
        **call_options,
    )


def get_export(export_id: str, **options: Unpack[CallOptions]) -> Call[exports.ExportDetails]:
    """Read an export: how far it is, and the links to its files once it is completed.

    Raises:
        NotFoundError: there is no such export in this organisation, or it has expired.
    """
    return call("GET", "exports", export_id, read=_export, **options)


def list_exports(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[exports.Export]:
    """Walk through the organisation's exports of seven days, oldest first.

    Args:
        page_size: exports fetched at a time, 1 to 200.
    """
    return listing("exports", read=_exports, page_size=page_size, **options)


def delete_export(export_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete an export's files, and stop it where it is being written; it is ``canceled`` then.

    Raises:
        NotFoundError: there is no such export in this organisation.
    """
    return call("DELETE", "exports", export_id, read=nothing, **options)


def wait_for_export(
    export_id: str,
    *,
    timeout: float | None = None,
    on_progress: Callable[[exports.ExportDetails], None] | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[exports.ExportDetails]:
    """Wait until an export has ended: completed, failed or canceled.

    Args:
        timeout: seconds to wait in all; None waits for ever. Each attempt has the client's own.
        on_progress: gets the export each time that it was read.

    Raises:
        WaitTimeoutError: it was still being written after ``timeout``.
        NotFoundError: there is no such export in this organisation.
    """

    def ask(session: Session) -> Course[exports.ExportDetails]:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        gap = _FIRST_LOOK_AFTER_SECONDS
        while True:
            export = yield from session.course(get_export(export_id, extra_headers=extra_headers))
            if on_progress is not None:
                on_progress(export)
            if export.state not in ("pending", "running"):
                return export
            left = deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeoutError(f"{export_id} was still {export.state} after {timeout:g} s")
            yield Pause(min(gap, left))
            gap = min(gap * GAP_GROWTH, _LONGEST_GAP_SECONDS)

    return ask


class ExportMethods:
    """Methods of exports."""

    create = Method(create_export)
    get = Method(get_export)
    list = ListMethod(list_exports)
    delete = Method(delete_export)
    wait_for = Method(wait_for_export)


class Exports(ExportMethods, Resource):
    """Exports, blocking."""

    @OwnMethod
    def download(
        self,
        export_id: str,
        folder: str | Path,
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        on_progress: Callable[[DownloadProgress], None] | None = None,
        timeout: Timeout = not_given,
        extra_headers: Mapping[str, str] | None = None,
    ) -> DownloadedExport:
        """Fetch a completed export's parts and, last, its manifest into a folder.

        A file appears under its name when its bytes are right, so the same call again goes on
        where one was broken off. Memory is bounded, whatever the size.

        Args:
            folder: is made where it is not there; must hold no files of another export.
            concurrency: files to fetch at a time, from 1.
            on_progress: is called after each piece, from one thread at a time.
            timeout: seconds for each attempt, of a file too; the client's own unless given.
            extra_headers: go to Autotune, and not to where the files are kept.

        Raises:
            NotFoundError: there is no such export in this organisation, or it has expired.
            ExportNotReadyError: it is not completed.
            ChecksumMismatchError: other bytes came than the export has; names the file.
            DownloadError: where the files are kept refused; names the file.
            ConnectionFailedError: no attempt got all of a file.
            LocalFileError: the folder cannot be written, or holds files of another export.
        """
        options = CallOptions(timeout=timeout, extra_headers=extra_headers)
        download = self.carry_out(_beginning(export_id, folder, concurrency, on_progress, options))

        def fetch(part: Course[None]) -> None:
            try:
                self._runner.carry_out(part)
            except BaseException as error:
                download.stop(error)
                raise

        with ThreadPoolExecutor(concurrency, thread_name_prefix="autotune-download") as executor:
            try:
                wait([executor.submit(fetch, part) for part in download.parts()])
            except BaseException as error:
                download.stop(error)
                raise
        if download.failure is not None:
            raise download.failure
        self._runner.carry_out(download.manifest())
        return download.outcome()


class AsyncExports(ExportMethods, AsyncResource):
    """Exports, for an event loop."""

    @OwnMethod
    async def download(
        self,
        export_id: str,
        folder: str | Path,
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        on_progress: Callable[[DownloadProgress], None] | None = None,
        timeout: Timeout = not_given,  # noqa: ASYNC109 - of each attempt
        extra_headers: Mapping[str, str] | None = None,
    ) -> DownloadedExport:
        """Fetch as ``AutotuneClient.exports.download`` does; files are written in threads."""
        options = CallOptions(timeout=timeout, extra_headers=extra_headers)
        download = await self.carry_out(
            _beginning(export_id, folder, concurrency, on_progress, options)
        )
        parts = download.parts()

        async def fetch_some() -> None:
            for part in parts:
                await self._runner.carry_out(part)

        fetching = [asyncio.create_task(fetch_some()) for _ in range(concurrency)]
        try:
            await asyncio.gather(*fetching)
        finally:
            for task in fetching:
                task.cancel()
            await asyncio.gather(*fetching, return_exceptions=True)
        await self._runner.carry_out(download.manifest())
        return download.outcome()


def _beginning(
    export_id: str,
    folder: str | Path,
    concurrency: int,
    on_progress: Callable[[DownloadProgress], None] | None,
    options: CallOptions,
) -> Plan[Download]:
    if concurrency < 1:
        raise InvalidInputError.at("concurrency", "1 or more")

    def begin(session: Session) -> Course[Download]:
        def read_again() -> Course[exports.ExportDetails]:
            return session.course(get_export(export_id, **options))

        export = yield from read_again()
        download = Download(
            session,
            export,
            Path(folder),
            renew=read_again,
            on_progress=on_progress,
            timeout=session.timeout_for(options["timeout"]),
        )
        yield Work(download.prepare)
        return download

    return begin
