"""Deleting an organisation with all that is its own, in steps that may end anywhere.

A step does as much as it has time for, and notes in the organisation's record where it stands. What
it did before it was killed is done again, which changes nothing. All tables are read again until a
whole pass finds nothing: what was under way when the organisation was suspended writes for a while.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from autotune_platform.access.models import Deletion, Organization
from autotune_platform.access.organizations import OrganizationService
from autotune_platform.completions.content import object_key
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.storage.purging import OrganizationItems

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = Logger()

STILL_WRITES = timedelta(minutes=2)
"""For so long after it began, a pass that finds nothing is not the last: functions know of a
suspension after half a minute, and what they had begun takes at most 30 seconds, but for runs."""

_CANCEL = "cancel"
_EXPORTS = "exports"
_OBJECTS_PER_CALL = 1_000
_SECONDS_OF_A_PAGE = 10
# What is begun with so much time left is at its end in time: a batch, or a part of a partition.
_SECONDS_OF_A_PART = 5


@part
class OrganizationDeletion:
    """Deletes organisations.

    Attributes:
        tables: what is read and emptied, by name, in this order.
        health_partition: where the health of a grader lies.
    """

    organizations: OrganizationService
    batches: OpenBatches
    completions: CompletionService
    tables: Mapping[str, OrganizationItems]
    health_partition: Callable[[str], str]
    s3: "S3Client"
    content_bucket: str
    export_bucket: str
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
        organization = self._begun(organization_id, name)
        while organization.deletion is not None and seconds_left() > _SECONDS_OF_A_PAGE:
            after = self._advanced(organization.id, organization.deletion, seconds_left)
            if after is None:
                organization = self.organizations.note_deletion(organization_id, None)
                logger.info("organization deleted", organization_id=organization_id)
            elif after == organization.deletion:
                return organization  # nothing to do but to wait
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
        begun = Deletion(place=_CANCEL, began_at=now, pass_began_at=now)
        return self.organizations.note_deletion(organization_id, begun)

    def _advanced(
        self, organization_id: str, at: Deletion, seconds_left: Callable[[], float]
    ) -> Deletion | None:
        """Do the next part; return where the walk stands then, None behind its end.

        What there was no time for is done by the next step, which begins the same part again.
        """

        def has_time() -> bool:
            return seconds_left() > _SECONDS_OF_A_PART

        places = [_CANCEL, *self.tables, _EXPORTS]
        following = dict(pairwise(places)).get(at.place)
        if at.place == _CANCEL:
            at, is_through = self._cancel(organization_id, at, has_time)
        elif at.place in self.tables:
            at, is_through = self._empty(organization_id, at, has_time)
        else:
            found, now = at.found + self._delete_exports(organization_id), self.clock.now()
            if found == 0 and at.pass_began_at - at.began_at >= STILL_WRITES:
                return None
            if found == 0 and now - at.began_at < STILL_WRITES:
                return at
            return at.model_copy(update={"place": _CANCEL, "pass_began_at": now, "found": 0})
        return at.model_copy(update={"place": following}) if is_through else at

    def _cancel(
        self, organization_id: str, at: Deletion, has_time: Callable[[], bool]
    ) -> tuple[Deletion, bool]:
        """Give what is pending a verdict, so that runs end instead of asking graders on.

        Returns where that stands, and whether it is all.
        """
        done, _ = at.after or ("", "")
        for batch_id in sorted(self.batches.open_of(organization_id)):
            if batch_id <= done:
                continue
            if not has_time():
                return at.model_copy(update={"after": (done, _CANCEL)}), False
            batch = self.batches.find(batch_id)
            if batch is not None:
                self.completions.cancel_in(batch_id, batch.completion_ids)
            done = batch_id
        return at.model_copy(update={"after": None}), True

    def _empty(
        self, organization_id: str, at: Deletion, has_time: Callable[[], bool]
    ) -> tuple[Deletion, bool]:
        """Delete what the next page of a table has; without time, it is begun again.

        Returns where that stands, and whether it was the last page.
        """
        table = self.tables[at.place]
        page = table.page(organization_id, after=at.after)
        for done, pk in enumerate(page.partitions):
            if not has_time():
                return _counted(at, done), False
            self._delete_beside(at.place, pk)
            if not table.delete_partition(pk, has_time=has_time):
                return _counted(at, done), False
        table.delete(page.single)
        at = _counted(at, len(page.partitions) + len(page.single))
        return at.model_copy(update={"after": page.following}), page.following is None

    def _delete_beside(self, table: str, pk: str) -> None:
        """Delete what a partition names, and what lies elsewhere under its id."""
        if pk.startswith("cmp_"):
            self.s3.delete_object(Bucket=self.content_bucket, Key=object_key(pk))
        elif pk.startswith("key_"):
            self.tables[table].delete([(f"use#{pk}", "use")])
        elif pk.startswith("grd_"):
            self.tables[table].delete([(self.health_partition(pk), pk)])

    def _delete_exports(self, organization_id: str) -> int:
        prefix = f"exports/{organization_id}/"
        pages = self.s3.get_paginator("list_objects_v2").paginate(
            Bucket=self.export_bucket, Prefix=prefix
        )
        names = [one["Key"] for page in pages for one in page.get("Contents", [])]
        for some in groups(names, _OBJECTS_PER_CALL):
            self.s3.delete_objects(
                Bucket=self.export_bucket,
                Delete={"Objects": [{"Key": name} for name in some], "Quiet": True},
            )
        return len(names)


def _counted(at: Deletion, count: int) -> Deletion:
    """Return a place with so much more that was found, and deleted."""
    return at.model_copy(update={"found": at.found + count, "deleted": at.deleted + count})
