"""Segments of an export's work: each goes from one position to the next, and writes files.

A segment writes only to its own directory, so it can be repeated, and be done twice at a time.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from autotune.protocol.exports import LlmRequestsOptions, PreferenceOptions
from autotune.protocol.limits import MAX_EXPORT_CANDIDATES, MAX_EXPORT_PARTS
from autotune_platform.completions.models import CompletionText
from autotune_platform.exports.files import ExportFiles
from autotune_platform.exports.formats import MEDIA_TYPES, SUFFIXES, RecordWriter, record_writer
from autotune_platform.exports.llm_requests import RowWalk, llm_record
from autotune_platform.exports.models import Export, ExportTooLargeError, FileKind, Position
from autotune_platform.exports.pairing import Candidate, Pair, RowFile, pair_candidates, read_pairs
from autotune_platform.exports.reading import ExportSource, VerdictWalk
from autotune_platform.exports.records import Skipped, preference, record_maker
from autotune_platform.exports.repository import ExportRepository
from autotune_platform.exports.statistics import Summary
from autotune_platform.ledger.records import LedgerRecords
from autotune_platform.ledger.row_lists import RowLists
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.models import Verdict

CANDIDATES_PER_FILE = 500_000

_PAIRS_AT_A_TIME = 50
_ROWS_MEDIA_TYPE = "application/gzip"


@dataclass(frozen=True)
class LocalFile:
    """A file that a segment wrote to its directory."""

    kind: FileKind
    path: Path
    records: int
    media_type: str = _ROWS_MEDIA_TYPE


@dataclass
class ExportSegment:
    """The result of a segment, and the position where the next one begins."""

    next: Position
    summary: Summary
    files: list[LocalFile] = field(default_factory=list)


@part
class ExportSegments:
    """Runs segments of all phases but the last."""

    source: ExportSource
    repository: ExportRepository
    files: ExportFiles
    requests: LedgerRecords
    lists: RowLists

    def run(self, export: Export, directory: Path, has_time: Callable[[], bool]) -> ExportSegment:
        """Run one segment from an export's position; it advances even if there is no time left.

        Raises:
            ExportTooLargeError: there are more completions to pair, pairs or parts than an export
                may have.
        """
        if export.request.llm_requests is not None:
            return self._write_requests(export, export.request.llm_requests, directory, has_time)
        options = export.request.preference
        if options is None:
            return self._write_verdicts(export, directory, has_time)
        match export.position.phase:
            case "collect":
                return self._collect(export, options, directory, has_time)
            case "pair":
                return self._pair(export, options, directory)
            case _:
                return self._write_pairs(export, directory, has_time)

    def _write_verdicts(
        self, export: Export, directory: Path, has_time: Callable[[], bool]
    ) -> ExportSegment:
        make = record_maker(export.request)
        summary = Summary()
        walk = VerdictWalk(self.source, export, has_time=has_time)
        with _part_writer(export, directory) as part:
            for verdict, score, text in _scored(walk, summary):
                record = make(verdict, text)
                if isinstance(record, Skipped):
                    summary.skipped[record.reason] += 1
                    continue
                part.write(record)
                summary.add_record(
                    scores=[score], task_id=verdict.task_id, model_ids=[verdict.model_id]
                )
                if part.is_full:
                    break
            position = walk.position
        return ExportSegment(position or Position(phase="finish"), summary, _as_file(export, part))

    def _write_requests(
        self,
        export: Export,
        options: LlmRequestsOptions,
        directory: Path,
        has_time: Callable[[], bool],
    ) -> ExportSegment:
        summary = Summary()
        walk = RowWalk(self.lists, self.requests, export, options, has_time=has_time)
        with _part_writer(export, directory) as part:
            for one in walk:
                part.write(llm_record(options, one))
                summary.add_request(one)
                if part.is_full:
                    break
        position = walk.position or Position(phase="finish")
        return ExportSegment(position, summary, _as_file(export, part))

    def _collect(
        self,
        export: Export,
        options: PreferenceOptions,
        directory: Path,
        has_time: Callable[[], bool],
    ) -> ExportSegment:
        summary = Summary()
        path = directory / "candidates.jsonl.gz"
        walk = VerdictWalk(self.source, export, has_time=has_time)
        with closing(RowFile(path)) as file:
            for verdict, _, text in _scored(walk, summary):
                candidate = Candidate.of(verdict, text, seed=options.seed)
                if candidate.confidence < options.min_confidence:
                    summary.skipped["low_confidence"] += 1
                    continue
                file.write(candidate)
                if file.rows >= CANDIDATES_PER_FILE:
                    break
            position = walk.position
        before = sum(one.records for one in self.repository.files(export, "candidates"))
        if before + file.rows > MAX_EXPORT_CANDIDATES:
            raise ExportTooLargeError("completions to pair", MAX_EXPORT_CANDIDATES, "completions")
        written = [LocalFile("candidates", path, file.rows)] if file.rows else []
        return ExportSegment(position or Position(phase="pair"), summary, written)

    def _pair(self, export: Export, options: PreferenceOptions, directory: Path) -> ExportSegment:
        fetched: list[Path] = []
        for index, stored in enumerate(self.repository.files(export, "candidates")):
            fetched.append(directory / f"candidates-{index:05}.jsonl.gz")
            self.files.fetch(stored, fetched[-1])
        paired = pair_candidates(fetched, options, directory=directory)
        summary = Summary()
        summary.skipped["unpaired"] += paired.unpaired
        summary.skipped["over_limit"] += paired.over_limit
        files = [LocalFile("pairs", path, pairs) for path, pairs in paired.files]
        return ExportSegment(Position(phase="write"), summary, files)

    def _write_pairs(
        self, export: Export, directory: Path, has_time: Callable[[], bool]
    ) -> ExportSegment:
        position, summary = export.position, Summary()
        files = list(self.repository.files(export, "pairs"))
        if position.file >= len(files):
            return ExportSegment(Position(phase="finish"), summary)
        path = directory / "pairs.jsonl.gz"
        self.files.fetch(files[position.file], path)
        row = position.row
        with (
            _part_writer(export, directory) as part,
            closing(read_pairs(path, after=position.row)) as pairs,
        ):
            for pair, chosen, rejected in self._with_texts(pairs):
                row += 1
                if chosen is None or rejected is None:
                    summary.skipped["pair_text_gone"] += 1
                else:
                    part.write(preference(pair, chosen, rejected))
                    summary.add_record(
                        scores=[pair.chosen_value, pair.rejected_value],
                        task_id=pair.task_id,
                        model_ids=[pair.chosen_model_id, pair.rejected_model_id],
                    )
                if part.is_full or not has_time():
                    break
        following = position.model_copy(update={"row": row})
        if row >= files[position.file].records:
            following = Position(phase="write", file=position.file + 1)
        return ExportSegment(following, summary, _as_file(export, part))

    def _with_texts(
        self, pairs: Iterable[Pair]
    ) -> Iterator[tuple[Pair, CompletionText | None, CompletionText | None]]:
        for some in groups(pairs, _PAIRS_AT_A_TIME):
            texts = self.source.texts(
                id_ for pair in some for id_ in (pair.chosen_id, pair.rejected_id)
            )
            for pair in some:
                yield pair, texts.get(pair.chosen_id), texts.get(pair.rejected_id)
            # Frees these texts before the next ones are read.
            del texts


def _scored(walk: VerdictWalk, summary: Summary) -> Iterator[tuple[Verdict, float, CompletionText]]:
    """Yield what has a score and a text; count the rest."""
    for verdict, text in walk:
        summary.states[verdict.state] += 1
        if verdict.value is not None and text is not None:
            yield verdict, verdict.value, text
        elif verdict.value is not None:
            summary.text_gone += 1


def _part_writer(export: Export, directory: Path) -> RecordWriter:
    request = export.request
    name = f"part-{export.parts + 1:05}.{SUFFIXES[request.format]}"
    return record_writer(request.format, request.shape, directory / name)


def _as_file(export: Export, part: RecordWriter) -> list[LocalFile]:
    if not part.records:
        return []
    if export.parts >= MAX_EXPORT_PARTS:
        raise ExportTooLargeError("parts of an export", MAX_EXPORT_PARTS, "parts")
    return [LocalFile("part", part.path, part.records, MEDIA_TYPES[export.request.format])]
