"""Uploading a file of requests to language models to where a link leads."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx

from autotune.client.downloads import keep_signed_urls_out_of_logs
from autotune.client.errors import AutotuneError, InvalidInputError, LocalFileError, UploadError
from autotune.client.exchange import Course, Pause, Reply, Session, Upload, UploadBody, failure_of
from autotune.protocol.limits import MAX_LLM_IMPORT_BYTES
from autotune.protocol.llm_imports import LlmImportUpload

_PIECE_BYTES = 262_144


class _FileBody(UploadBody):
    """A file as the body of a request, read piece by piece."""

    def __init__(self, path: Path, on_upload: Callable[[int], None] | None) -> None:
        self._path = path
        self._on_upload = on_upload

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        try:
            with self._path.open("rb") as file:
                while piece := file.read(_PIECE_BYTES):
                    yield piece
                    read += len(piece)
                    if self._on_upload is not None:
                        self._on_upload(read)
        except OSError as error:
            raise LocalFileError(self._path, error) from error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = iter(self)
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece


def uploaded(
    session: Session,
    file: Path,
    upload: LlmImportUpload,
    on_upload: Callable[[int], None] | None,
) -> Course[None]:
    """Upload a file; where an attempt breaks off, begin anew.

    Raises:
        UploadError: it could not be uploaded.
    """
    keep_signed_urls_out_of_logs()
    retries = 0
    while True:
        reply = yield Upload(
            url=upload.url,
            headers=upload.headers,
            body=lambda: _FileBody(file, on_upload),
            timeout=session.timeout,
        )
        if isinstance(reply, httpx.Response) and reply.is_success:
            return
        pause = session.pause_after(reply, retries, repeatable=True)
        if pause is None:
            raise failed_transfer(reply, UploadError)
        retries += 1
        yield Pause(pause)


def size_of(file: Path) -> int:
    """Return how long a file is.

    Raises:
        LocalFileError: it cannot be read.
        InvalidInputError: it is empty or too large.
    """
    try:
        size = file.stat().st_size
    except OSError as error:
        raise LocalFileError(file, error) from error
    if not 0 < size <= MAX_LLM_IMPORT_BYTES:
        raise InvalidInputError.at("path", f"a file of 1 to {MAX_LLM_IMPORT_BYTES} bytes")
    return size


def failed_transfer(reply: Reply, failed: Callable[[str], AutotuneError]) -> AutotuneError:
    """Return what to raise for a transfer; the answer is not Autotune's, so its problem is not."""
    if isinstance(reply, httpx.Response):
        host = reply.request.url.host
        return failed(f"{host} answered {reply.status_code} {reply.reason_phrase}")
    return failure_of(reply)
