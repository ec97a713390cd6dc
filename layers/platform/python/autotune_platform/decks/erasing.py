"""Erasing what belongs to deleted decks and graders, in passes that may end anywhere.

A deleted deck leaves an item that names it. What lies in partitions of graders and samples goes
first, then what names these, and that item last: a pass that is killed is done again. What was
under way when the deck was deleted writes for a while, so that passes go on for an hour.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from autotune_platform.decks.items import DECK, GONE, GRADER, SAMPLE, VERSION, model_from
from autotune_platform.decks.models import DeckVersion, DeletedDeck, DeletedGrader
from autotune_platform.decks.new_graders import registered_id
from autotune_platform.decks.prompt_index import PromptIndex
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.results import REPEAT, RESULT, lead_key
from autotune_platform.decks.runs.repository import RUN, is_open_run
from autotune_platform.decks.sample_objects import object_prefix
from autotune_platform.graders.example_erasing import RegisteredExamples
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.objects import delete_objects
from autotune_platform.storage.purging import Key, OrganizationItems
from autotune_platform.storage.table import Table

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

STILL_WRITES = timedelta(hours=1)
"""For so long after its deletion, what was under way may write about a deck."""

HasTime = Callable[[], bool]


@part
class DeckErasure:
    """Erases deleted decks of all organisations."""

    repository: DeckRepository
    prompts: PromptIndex
    table: Table
    items: OrganizationItems
    registered: RegisteredExamples
    bucket: str
    s3: "S3Client"
    clock: Clock = SYSTEM_CLOCK

    def erase(self, *, has_time: HasTime) -> int:
        """Erase what is left of deleted decks, as far as there is time; return of how many.

        Raises:
            UnavailableError: a store kept something; another pass erases it.
        """
        count = 0
        for deck in self.repository.deleted():
            if not has_time():
                break
            self._erase(deck, has_time)
            count += 1
        for grader in self.repository.deleted_graders():
            if not has_time():
                break
            self._erase_grader(grader, has_time)
        return count

    def _erase(self, deck: DeletedDeck, has_time: HasTime) -> None:
        self._erase_objects(deck.id, has_time)
        named = [*self._named(deck.id, GRADER), *self._named(deck.id, GONE)]
        graders = dict.fromkeys([*deck.graders, *named])
        for grader_id in graders:
            # What is published goes on without the texts of samples that were its examples.
            self.registered.erase(deck.organization_id, registered_id(grader_id), None)
            self.items.delete_partition(grader_id, has_time=has_time)
        for sample_id in self._named(deck.id, SAMPLE):
            if not has_time():
                return
            self.items.delete_partition(sample_id, has_time=has_time)
        for item in self.table.items(deck.id, starting=VERSION):
            if not has_time():
                return
            self.prompts.remove(model_from(item, DeckVersion))
        if not has_time():
            return
        self.items.delete(self._beside(deck.id), has_time=has_time)
        if not has_time() or self.clock.now() - deck.deleted_at < STILL_WRITES:
            return
        if not any(is_open_run(item) for item in self.table.items(deck.id, starting=RUN)):
            self.table.delete(deck.id, DECK)

    def _erase_grader(self, grader: DeletedGrader, has_time: HasTime) -> None:
        self.items.delete(self._leads(grader.id), has_time=has_time)
        if not has_time():
            return
        self.items.delete_partition(grader.id, has_time=has_time)
        if not has_time() or self.clock.now() - grader.deleted_at < STILL_WRITES:
            return
        # A trial that is under way stores what its judge says, however late.
        if not any(is_open_run(item) for item in self.table.items(grader.deck_id, starting=RUN)):
            self.table.delete(grader.deck_id, GONE + grader.id)

    def _leads(self, grader_id: str) -> Iterator[Key]:
        """Yield the keys of what leads from samples to a grader's results."""
        for prefix in (RESULT, REPEAT):
            for item in self.table.items(grader_id, starting=prefix):
                yield item["sample_id"], lead_key(grader_id, item["sk"])

    def _named(self, deck_id: str, prefix: str) -> Iterator[str]:
        """Yield the ids that a deck's sort keys have behind a prefix."""
        for item in self.table.items(deck_id, starting=prefix):
            yield item["sk"].removeprefix(prefix)

    def _beside(self, deck_id: str) -> Iterator[Key]:
        """Yield the keys of all that is in a deck's partition but what names the deck.

        Runs that are open stay, too: their sweeper has them canceled, which frees their places.
        """
        for item in self.table.items(deck_id):
            if item["sk"] != DECK and not is_open_run(item):
                yield item["pk"], item["sk"]

    def _erase_objects(self, deck_id: str, has_time: HasTime) -> None:
        pages = self.s3.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix=object_prefix(deck_id)
        )
        for page in pages:
            names = [one["Key"] for one in page.get("Contents", [])]
            delete_objects(self.s3, self.bucket, names)
            if not has_time():
                return
