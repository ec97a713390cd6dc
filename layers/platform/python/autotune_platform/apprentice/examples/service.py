"""What callers ask of examples: bringing, listing, counting and deleting them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.protocol.apprentice_examples import ImportedExamples
from autotune.protocol.deck_samples import RejectedLine
from autotune.protocol.ids import derived_id, is_id
from autotune.protocol.limits import MAX_DATA_SET_EXAMPLES, MAX_EXAMPLES_AT_ONCE
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.models import ConfiguredTask
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.examples.lines import Given, read_lines
from autotune_platform.apprentice.examples.models import (
    Example,
    ExampleTexts,
)
from autotune_platform.apprentice.examples.repository import (
    ExampleCounts,
    ExampleRepository,
    Imported,
    token_behind_example,
)
from autotune_platform.apprentice.examples.sides import Digests, Split, canonical
from autotune_platform.apprentice.examples.splits import SplitRepository
from autotune_platform.apprentice.examples.texts import ExampleContents
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    NotFoundError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.uploaded_lines import require_few_lines

_PAGE_BYTES = 2_000_000
"""Lambda answers with 6 MB at most, and JSON is wrapped in JSON again."""

_READ_AT_ONCE = 10


@dataclass(frozen=True)
class Shown:
    """An example with its side, and its texts where they are left."""

    example: Example
    split: Split
    texts: ExampleTexts | None


@dataclass(frozen=True)
class SideCounts:
    """How many examples train, validate, and do neither."""

    train: int = 0
    holdout: int = 0
    neither: int = 0


@dataclass(frozen=True)
class Counted:
    """How many examples a definition has; ``sides`` is None where there are too many to look at."""

    definition_hash: str
    counts: ExampleCounts
    split: Split
    is_fixed: bool
    sides: SideCounts | None


@part
class Examples:
    """Looks after a task's examples."""

    tasks: TaskConfigurations
    repository: ExampleRepository
    splits: SplitRepository
    contents: ExampleContents
    clock: Clock = SYSTEM_CLOCK

    def bring(self, caller: Caller, name: str, body: bytes) -> ImportedExamples:
        """Store each line that is an example of the present definition; name each other one.

        The same line again is the same example.

        Raises:
            NotFoundError: there is no such task.
            InvalidRequestError: there is no line.
            RequestTooLargeError: there are too many lines.
            TooManyEntitiesError: the definition has as many imported examples as it may.
            UnavailableError: the table is busy, or the task is being changed; some may be stored,
                and a repeat stores the others.
        """
        configured = self.tasks.get(caller, name)
        require_few_lines(body, most=MAX_EXAMPLES_AT_ONCE, limit="examples", line="an example")
        given, rejected = [], []
        for line in read_lines(body, configured.configuration.document):
            if isinstance(line, Given):
                given.append(self._imported(configured, line))
            else:
                rejected.append(
                    RejectedLine(line=line.place + 1, field=line.field, expected=line.expected)
                )
        added = self.repository.add_imported(configured.task, given)
        return ImportedExamples(added=added, repeated=len(given) - added, rejected=rejected)

    def page(
        self,
        caller: Caller,
        name: str,
        definition_hash: str | None,
        *,
        limit: int,
        next_token: str | None,
    ) -> tuple[Sequence[Shown], str | None]:
        """Return a page of examples with their texts; a page of long ones has fewer.

        Args:
            definition_hash: the present one without it.

        Raises:
            NotFoundError: there is no such task.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        configured = self.tasks.get(caller, name)
        wanted = definition_hash or configured.task.definition_hash
        task_id = configured.task.id
        found, token = self.repository.page(task_id, wanted, limit=limit, next_token=next_token)
        split, _ = self._split(configured, wanted)
        shown: list[Shown] = []
        size = 0
        for start in range(0, len(found), _READ_AT_ONCE):
            some = found[start : start + _READ_AT_ONCE]
            texts = self.contents.of(some)
            for one in some:
                own = texts.get(one.id)
                size += 0 if own is None else len(canonical([own.input, own.output]).encode())
                if shown and size > _PAGE_BYTES:
                    return shown, token_behind_example(shown[-1].example)
                shown.append(Shown(one, split, own))
        return shown, token

    def counts(self, caller: Caller, name: str, definition_hash: str | None) -> Counted:
        """Return how many examples a definition has, by selection and by side.

        Raises:
            NotFoundError: there is no such task.
        """
        configured = self.tasks.get(caller, name)
        wanted = definition_hash or configured.task.definition_hash
        counts = self.repository.counts(configured.task.id, wanted)
        split, is_fixed = self._split(configured, wanted)
        sides = None
        if counts.all <= MAX_DATA_SET_EXAMPLES:
            tally = Counter(
                _place(one, split) for one in self.repository.all_of(configured.task.id, wanted)
            )
            sides = SideCounts(**tally)
        return Counted(wanted, counts, split, is_fixed, sides)

    def delete(self, caller: Caller, name: str, example_id: str) -> None:
        """Delete an example; texts of its run and of its request stay where they are.

        Raises:
            NotFoundError: there is no such task, or no such example of it.
            UnavailableError: the table is busy.
        """
        task = self.tasks.require(caller, name)
        found = None
        if is_id("exm", example_id):
            definitions = self.repository.definitions(task.id)
            found = self.repository.find(task.id, definitions, example_id)
        if found is None or not self.repository.remove(found):
            raise NotFoundError(f"task {name} has no example {example_id}")

    def _split(self, configured: ConfiguredTask, definition_hash: str) -> tuple[Split, bool]:
        fixed = self.splits.find(configured.task.id, definition_hash)
        if fixed is not None:
            return fixed, True
        return Split.of(configured.configuration.document), False

    def _imported(self, configured: ConfiguredTask, given: Given) -> Imported:
        task = configured.task
        texts = canonical([given.texts.input, given.texts.output])
        digests = Digests.of(given.texts.input)
        example = Example(
            id=derived_id("exm", task.id, task.definition_hash, texts),
            organization_id=task.organization_id,
            task_id=task.id,
            definition_hash=task.definition_hash,
            selection="imported",
            at=self.clock.now(),
            whole=digests.whole,
            fields=digests.fields,
        )
        return Imported(example, given.texts)


def _place(example: Example, split: Split) -> str:
    side = example.side(split)
    if side == "holdout" and not example.is_representative:
        return "neither"
    return side or "neither"
