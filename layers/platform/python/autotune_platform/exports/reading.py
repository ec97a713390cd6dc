"""Reads verdicts for exports task by task, and their texts in few round trips.

Texts stay compressed until each is needed, so memory holds one uncompressed text at a time. Two
pages of 200 of the longest compressed texts are 120 MB. Reading a text takes several times its
size, so few are read at a time. Most pages are below 1 MB.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from autotune_platform.access.models import Caller
from autotune_platform.completions.models import CompletionText, PackedText
from autotune_platform.completions.service import CompletionService
from autotune_platform.exports.models import Export, Position
from autotune_platform.exports.records import needs_unlisted
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.tasks.service import TaskService
from autotune_platform.verdicts.filters import ScoreFilters
from autotune_platform.verdicts.models import Unlisted, Verdict, VerdictKey
from autotune_platform.verdicts.service import VerdictService

PAGE_VERDICTS = 200

_TEXTS_PER_READ = 25
_UNLISTED_PER_READ = 100
_CONCURRENT_READS = 2


@dataclass
class LoadedTexts:
    """Texts by completion, unpacked one at a time."""

    completions: CompletionService
    packed: dict[str, PackedText] = field(default_factory=dict)

    def get(self, completion_id: str) -> CompletionText | None:
        """Return a text; None if it was deleted or has expired."""
        packed = self.packed.get(completion_id)
        return self.completions.unpack(packed) if packed is not None else None


@part
class ExportSource:
    """Reads verdicts and texts of any organisation."""

    tasks: TaskService
    verdicts: VerdictService
    completions: CompletionService

    def is_known(self, caller: Caller, task_id: str | None) -> bool:
        """Return whether a task is the organisation's, deleted or not; None means all tasks."""
        return task_id is None or self.tasks.is_known(caller, task_id)

    def page(self, export: Export, position: Position) -> tuple[list[Verdict], Position | None]:
        """Return verdicts from a position on, of the filtered task or of all tasks in turn.

        Returns:
            The verdicts, and the position of the next ones; None after the last.
        """
        filters = ScoreFilters.of(export.request.filters)
        # Without verdicts that were decided after the export's creation.
        end = min(filters.end, export.as_of) if filters.end else export.as_of
        filters = filters.model_copy(update={"end": end})
        only_task = export.request.filters.task_id
        task_id = position.task_id or only_task or self.tasks.id_after(export.organization_id, None)
        if task_id is None:
            return [], None
        found, token = self.verdicts.matching(
            task_id, filters, limit=PAGE_VERDICTS, next_token=position.token
        )
        if token is None:
            task_id = None if only_task else self.tasks.id_after(export.organization_id, task_id)
        following = {"task_id": task_id, "token": token}
        return found, position.model_copy(update=following) if task_id else None

    def behind(self, position: Position, verdict: Verdict) -> Position:
        """Return the position behind a verdict."""
        following = {"task_id": verdict.task_id, "token": self.verdicts.token_behind(verdict)}
        return position.model_copy(update=following)

    def texts(self, completion_ids: Iterable[str]) -> LoadedTexts:
        """Return texts, in few round trips."""
        loaded = LoadedTexts(self.completions)
        with ThreadPoolExecutor(_CONCURRENT_READS) as threads:
            some = groups(dict.fromkeys(completion_ids), _TEXTS_PER_READ)
            for packed in threads.map(self.completions.load_packed, some):
                loaded.packed |= packed
        return loaded

    def unlisted(self, verdicts: Sequence[Verdict]) -> dict[VerdictKey, Unlisted]:
        """Return what the index lacks of verdicts, in few round trips."""
        found: dict[VerdictKey, Unlisted] = {}
        with ThreadPoolExecutor(_CONCURRENT_READS) as threads:
            keys = groups([verdict.key for verdict in verdicts], _UNLISTED_PER_READ)
            for some in threads.map(self.verdicts.unlisted_of, keys):
                found |= some
        return found


class VerdictWalk:
    """Iterates over an export's verdicts from the export's position, while there is time.

    It yields each verdict with its text. The text is None if the verdict has no score, or if the
    text is deleted or has expired. Verdicts have what the index lacks of them, such as dimensions,
    if the export's shape needs it.
    """

    def __init__(
        self, source: ExportSource, export: Export, *, has_time: Callable[[], bool]
    ) -> None:
        self._source = source
        self._export = export
        self._has_time = has_time
        self._next: Position | None = export.position
        self._last: Verdict | None = None

    @property
    def position(self) -> Position | None:
        """The position behind the last verdict that was yielded; None at the end."""
        if self._last is None:
            return self._next
        return self._source.behind(self._export.position, self._last)

    def __iter__(self) -> Iterator[tuple[Verdict, CompletionText | None]]:
        """Yield at least one verdict, so that each walk advances."""
        if self._next is None:
            return
        # The next page is read while one is written.
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self._load, self._next)
            while self._next is not None:
                verdicts, texts, following = coming.result()
                if following is not None:
                    coming = ahead.submit(self._load, following)
                for verdict in verdicts:
                    self._last = verdict
                    is_scored = verdict.state == "scored"
                    yield verdict, texts.get(verdict.completion_id) if is_scored else None
                    if not self._has_time():
                        return
                self._next, self._last = following, None
                if not self._has_time():
                    return

    def _load(self, position: Position) -> tuple[list[Verdict], LoadedTexts, Position | None]:
        verdicts, following = self._source.page(self._export, position)
        scored = [one for one in verdicts if one.state == "scored"]
        texts = self._source.texts(one.completion_id for one in scored)
        if needs_unlisted(self._export.request.shape):
            found = self._source.unlisted(scored)
            nothing = Unlisted()
            verdicts = [
                one.model_copy(update=dict(found.get(one.key, nothing))) for one in verdicts
            ]
        return verdicts, texts, following
