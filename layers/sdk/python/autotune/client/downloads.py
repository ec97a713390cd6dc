"""The courses of a download: an export's files into a folder, each whole and right or not there."""

import logging
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from autotune.client.errors import AutotuneError, DownloadError, ExportNotReadyError, LocalFileError
from autotune.client.exchange import Course, Fetch, Pause, Reply, Session, Work, failure_of
from autotune.client.verified_file import VerifiedFile
from autotune.protocol.exports import ExportDetails, ExportedFile

MANIFEST = "manifest.json"

_PART_NAME = re.compile(r"part-[0-9]{5,}\.(jsonl\.gz|parquet|tfrecord)")
_REFUSED = frozenset({400, 401, 403, 404})
_RENEWALS = 2
_URL_SIGNATURE = "X-Amz-Signature"


@dataclass(frozen=True, kw_only=True)
class DownloadProgress:
    """How far a download has come; what was there already counts as downloaded."""

    files: int
    files_done: int
    bytes: int
    bytes_done: int


@dataclass(frozen=True, kw_only=True)
class DownloadedExport:
    """An export that is on this machine, whole.

    Attributes:
        manifest: names what the parts hold, what was left out, and their checksums.
        parts: in order.
        already_there: how many of these files had been downloaded before.
    """

    folder: Path
    manifest: Path
    parts: tuple[Path, ...]
    already_there: int


class Download:
    """One export on its way into a folder. The manifest comes last: where it is, all is there.

    Attributes:
        failure: what stopped it.

    Args:
        renew: describes the course that reads the export again, with URLs that hold anew.
        timeout: of each attempt to fetch a file.

    Raises:
        ExportNotReadyError: there are no files, or none any more.
        DownloadError: a part's name is none.
    """

    def __init__(
        self,
        session: Session,
        export: ExportDetails,
        folder: Path,
        *,
        renew: Callable[[], Course[ExportDetails]],
        on_progress: Callable[[DownloadProgress], None] | None,
        timeout: httpx.Timeout,
    ) -> None:
        keep_signed_urls_out_of_logs()
        self._session = session
        self._folder = folder
        self._renew = renew
        self._on_progress = on_progress
        self._timeout = timeout
        self._lock = threading.Lock()
        self._files_done = 0
        self._bytes_done = 0
        self.failure: BaseException | None = None
        self._wanted = _files_of(export)
        self._bytes = sum(file.bytes for file in self._wanted.values())
        for name in self._wanted:
            if name != MANIFEST and not _PART_NAME.fullmatch(name):
                raise DownloadError(name, "that is not the name of a part")
        self._urls = {name: file.url for name, file in self._wanted.items()}
        self._files = {
            name: VerifiedFile(folder / name, file.sha256, size=file.bytes, count=self._count)
            for name, file in self._wanted.items()
        }

    def prepare(self) -> None:
        """Make the folder, or see that what is in it belongs to this export.

        Raises:
            LocalFileError: it cannot be made, or holds files of another export.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            names = {path.name for path in self._folder.iterdir()}
        except OSError as error:
            raise LocalFileError(self._folder, error) from error
        parts = {name for name in names if _PART_NAME.fullmatch(name)}
        if MANIFEST in names:
            self._files[MANIFEST].look()
            if not self._files[MANIFEST].was_there:
                raise LocalFileError(self._folder, "holds another export; give another folder")
        if strangers := parts - self._wanted.keys():
            reason = f"holds {min(strangers)}, which is not of this export; give another folder"
            raise LocalFileError(self._folder, reason)

    def parts(self) -> Iterator[Course[None]]:
        """Yield the course of each part; they may be followed at the same time."""
        for name in self._wanted:
            if name != MANIFEST:
                yield self._fetch(name)

    def manifest(self) -> Course[None]:
        """Return the course of the manifest, to be followed when the parts are there."""
        return self._fetch(MANIFEST)

    def stop(self, failure: BaseException) -> None:
        """Begin nothing any more, and end what is under way at its next piece.

        Args:
            failure: why; the first one is what ``failure`` keeps.
        """
        with self._lock:
            self.failure = self.failure or failure

    def outcome(self) -> DownloadedExport:
        """Return what there is now."""
        return DownloadedExport(
            folder=self._folder,
            manifest=self._folder / MANIFEST,
            parts=tuple(self._folder / name for name in self._wanted if name != MANIFEST),
            already_there=sum(file.was_there for file in self._files.values()),
        )

    def _fetch(self, name: str) -> Course[None]:
        file = self._files[name]
        try:
            self._go_on(name)
            if not file.was_there:
                yield Work(file.look)
            if not file.was_there:
                yield from self._receive(name, file)
        finally:
            file.drop()
        with self._lock:
            self._files_done += 1
        self._count(0)

    def _receive(self, name: str, file: VerifiedFile) -> Course[None]:
        retries = renewals = 0
        while True:
            url = self._urls[name]
            yield Work(file.begin)
            reply = yield Fetch(url=url, take=self._taking(file), timeout=self._timeout)
            if isinstance(reply, httpx.Response):
                if reply.is_success:
                    yield Work(file.finish)
                    return
                # A URL holds for minutes, and a large export takes longer.
                if reply.status_code in _REFUSED and renewals < _RENEWALS:
                    renewals += 1
                    if url == self._urls[name]:
                        files = _files_of((yield from self._renew()))
                        self._urls = {each: found.url for each, found in files.items()}
                    continue
            pause = self._session.pause_after(reply, retries, repeatable=True)
            if pause is None:
                raise _failure(name, reply)
            retries += 1
            yield Pause(pause)

    def _taking(self, file: VerifiedFile) -> Callable[[bytes], None]:
        def take(piece: bytes) -> None:
            self._go_on(file.path.name)
            file.take(piece)

        return take

    def _go_on(self, name: str) -> None:
        if self.failure is not None:
            raise DownloadError(name, "the download was stopped")

    def _count(self, more_bytes: int) -> None:
        # Parts come in several threads; ``on_progress`` sees numbers of one moment, in order.
        with self._lock:
            self._bytes_done += more_bytes
            if self._on_progress is None:
                return
            self._on_progress(
                DownloadProgress(
                    files=len(self._wanted),
                    files_done=self._files_done,
                    bytes=self._bytes,
                    bytes_done=self._bytes_done,
                )
            )


def _files_of(export: ExportDetails) -> dict[str, ExportedFile]:
    """Return each file by its name, the manifest last."""
    if export.downloads is None:
        raise ExportNotReadyError(export.id, export.state, f"is {export.state}, not completed")
    parts: dict[str, ExportedFile] = {part.name: part for part in export.downloads.parts}
    return {**parts, MANIFEST: export.downloads.manifest}


def _failure(name: str, reply: Reply) -> AutotuneError:
    """Return what to raise for a file; the answer is not Autotune's, so its problem is not."""
    if isinstance(reply, httpx.Response):
        host = reply.request.url.host
        return DownloadError(name, f"{host} answered {reply.status_code} {reply.reason_phrase}")
    failure = failure_of(reply)
    failure.add_note(f"while {name} was fetched")
    return failure


class _WithoutSignatures(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(map(_bare, record.args))
        return True


_FILTER = _WithoutSignatures()


def keep_signed_urls_out_of_logs() -> None:
    """Have httpx log signed URLs without their query; other URLs stay as they are.

    httpx logs the whole URL of each request at INFO: whoever reads the log of a training run could
    download its data for as long as the URL holds.
    """
    logging.getLogger("httpx").addFilter(_FILTER)


def _bare(value: Any) -> Any:
    is_signed = isinstance(value, httpx.URL) and _URL_SIGNATURE in value.params
    return value.copy_with(query=None) if is_signed else value
