"""Deleting an organisation with all that is its own, in steps that may end anywhere.

A step does as much as it has time for, and notes in the organisation's record where it stands: no
batch, page or partition is too large for a step. What it did before it was killed is done again,
which changes nothing. All tables are read again until a
whole pass finds nothing: what was under way when the organisation was suspended writes for a while.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from autotune_platform.access.models import Deletion, Organization
from autotune_platform.access.organizations import OrganizationService
from autotune_platform.apprentice.students.files import folder_of
from autotune_platform.completions.content import object_key
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.decks.sample_objects import object_prefix
from autotune_platform.ledger.objects import TEXT_KINDS, text_key
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    InvalidRequestError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.objects import delete_objects
from autotune_platform.storage.purging import Found, Key, OrganizationItems

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = Logger()

STILL_WRITES = timedelta(minutes=2)
"""For so long after anything was found, a pass that finds nothing is not the last: functions know
of a suspension after half a minute, and a round that has read a text writes about it for as long as
its function may run."""

CONCURRENT_DELETIONS = 8
"""Partitions that are emptied at once."""

_CANCEL = "cancel"
_EXPORTS = "exports"
_BATCH = "batch"
_REGISTRY = "registry"
_APPRENTICE = "apprentice"
# For what is under way when the time is over, and for noting where it ended.
_RESERVED_SECONDS = 10

HasTime = Callable[[], bool]


@part
class OrganizationDeletion:
    """Deletes organisations.

    Attributes:
        tables: what is read and emptied, by name, in this order.
        health_partition: where the health of a grader lies.
        end_hostings: has what hosts versions of an apprentice's task taken down, by its id and now.
    """

    organizations: OrganizationService
    batches: OpenBatches
    completions: CompletionService
    tables: Mapping[str, OrganizationItems]
    health_partition: Callable[[str], str]
    end_hostings: Callable[[str, datetime], None]
    s3: "S3Client"
    content_bucket: str
    export_bucket: str
    ledger_bucket: str
    apprentice_bucket: str
    clock: Clock = SYSTEM_CLOCK

    def step(
        self, organization_id: str, *, name: str, seconds_left: Callable[[], float]
    ) -> Organization:
        """Delete as much of an organisation as there is time for; return it as it is then.

        It is ``deleted`` once nothing is left of it but its id. Asking for it again then looks for
        what came later, such as a run that was on a queue.

        Raises:
            NotFoundError: there is none.
            ConflictError: it is not suspended.
            InvalidRequestError: it has another name.
        """

        def has_time() -> bool:
            return seconds_left() > _RESERVED_SECONDS

        organization = self._begun(organization_id, name)
        while organization.deletion is not None and has_time():
            after = self._advanced(organization.id, organization.deletion, has_time)
            if after is None:
                organization = self.organizations.note_deletion(organization_id, None)
                logger.info("organization deleted", organization_id=organization_id)
            elif after == organization.deletion:
                return organization  # nothing to do but to wait, or no time for any of it
            else:
                organization = self.organizations.note_deletion(organization_id, after)
        return organization

    def _begun(self, organization_id: str, name: str) -> Organization:
        organization = self.organizations.organization(organization_id)
        if organization.status == "active":
            raise ConflictError(f"organization {organization_id} is active; suspend it first")
        # Of one that is deleted no name is left.
        if organization.name and organization.name != name:
            raise InvalidRequestError.of_field("name", "the name of the organization")
        if organization.deletion is not None:
            return organization
        now = self.clock.now()
        begun = Deletion(place=_CANCEL, found_at=now, pass_began_at=now)
        return self.organizations.note_deletion(organization_id, begun)

    def _advanced(self, organization_id: str, at: Deletion, has_time: HasTime) -> Deletion | None:
        """Do the next part, as far as there is time; return where the walk stands then.

        None behind its end. A page that was not emptied whole is read again.
        """
        places = [_CANCEL, *self.tables, _EXPORTS]
        following = dict(pairwise(places)).get(at.place)
        if at.place == _CANCEL:
            behind = self._cancel(organization_id, at.after, has_time)
            if behind is not None:
                return at.model_copy(update={"after": behind})
        elif at.place == _EXPORTS:
            count = self._delete_exports(organization_id, has_time)
            at = at.model_copy(update={"found": at.found + count})
            return self._next_pass(at) if has_time() else at
        else:
            page = self.tables[at.place].page(organization_id, after=at.after)
            found = at.found + len(page.partitions) + len(page.single)
            deleted = at.deleted + self._delete_page(at.place, page, has_time)
            at = at.model_copy(update={"found": found, "deleted": deleted})
            if not has_time():
                return at
            if page.following is not None:
                return at.model_copy(update={"after": page.following})
        return at.model_copy(update={"place": following, "after": None})

    def _next_pass(self, at: Deletion) -> Deletion | None:
        """Return the beginning of another pass, or ``at`` until it is time; None behind the last.

        The last pass is one that finds nothing, and began when nobody wrote any more.
        """
        now = self.clock.now()
        anew = at.model_copy(update={"place": _CANCEL, "pass_began_at": now, "found": 0})
        if at.found:
            return anew.model_copy(update={"found_at": now})
        if at.pass_began_at - at.found_at >= STILL_WRITES:
            return None
        return anew if now - at.found_at >= STILL_WRITES else at

    def _cancel(self, organization_id: str, after: Key | None, has_time: HasTime) -> Key | None:
        """Give what is pending a verdict, so that runs end instead of asking graders on.

        Returns:
            The batch behind which to go on; None where all are done.
        """
        first = "" if after is None else after[0]
        for batch_id in sorted(self.batches.open_of(organization_id)):
            if batch_id <= first:
                continue
            if not has_time():
                return after
            batch = self.batches.find(batch_id)
            if batch is not None:
                self.completions.cancel_all(batch.completion_ids)
            after = (batch_id, _BATCH)
        return None

    def _delete_page(self, table: str, page: Found, has_time: HasTime) -> int:
        """Delete what a page has, with time left all of it; return how much that was."""
        items = self.tables[table]
        emptied: list[str] = []

        def delete(pk: str) -> None:
            if has_time():
                self._delete_beside(table, pk)
                items.delete_partition(pk, has_time=has_time)
                emptied.append(pk)

        # The objects first: nobody would come back for them.
        delete_objects(
            self.s3,
            self.content_bucket,
            [object_key(pk) for pk in page.partitions if pk.startswith("cmp_")],
        )
        for pk in page.partitions:
            if pk.startswith("dck_"):
                self._delete_below(self.content_bucket, object_prefix(pk), has_time)
        rows = [pk for pk in page.partitions if pk.startswith("llm_")]
        delete_objects(
            self.s3,
            self.ledger_bucket,
            [text_key(row, kind) for row in rows for kind in TEXT_KINDS],
        )
        if table == _APPRENTICE:
            # With trainings too: one that goes on writes files of a task that is gone.
            keys = [*page.partitions, *(pk for pk, _ in page.single)]
            tasks = dict.fromkeys(pk.partition("#")[0] for pk in keys if pk.startswith("apt_"))
            for task in tasks:
                self._delete_below(self.apprentice_bucket, folder_of(task), has_time)
        if page.partitions:
            in_parallel(delete, page.partitions, at_most=CONCURRENT_DELETIONS)
        return len(emptied) + items.delete(page.single, has_time=has_time)

    def _delete_beside(self, table: str, pk: str) -> None:
        """Delete what lies elsewhere under the id of a partition."""
        if pk.startswith("key_"):
            self.tables[table].delete_partition(f"use#{pk}")
        elif pk.startswith("ses_"):
            self.tables[table].delete_partition(f"use#key_none#{pk}")
        elif pk.startswith("grd_") and table == _REGISTRY:
            self.tables[table].delete([(self.health_partition(pk), pk)])
        elif pk.startswith("apt_") and table == _APPRENTICE and "#" not in pk:
            # It costs money by the hour, and is found by nothing else once its task is gone.
            self.end_hostings(pk, self.clock.now())

    def _delete_exports(self, organization_id: str, has_time: HasTime) -> int:
        """Delete files of exports; return how many, with time left all of them."""
        return self._delete_below(self.export_bucket, f"exports/{organization_id}/", has_time)

    def _delete_below(self, bucket: str, prefix: str, has_time: HasTime) -> int:
        """Delete objects below a prefix; return how many, with time left all of them."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        count = 0
        for page in pages:
            names = [one["Key"] for one in page.get("Contents", [])]
            delete_objects(self.s3, bucket, names)
            count += len(names)
            if not has_time():
                break
        return count
