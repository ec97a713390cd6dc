"""A hosting: what of SageMaker one model has, or the base that several adapters share."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.sagemaker_names import STACK_TAG, sagemaker_name

Kind = Literal["base", "adapter"]
State = Literal["creating", "waiting", "ready", "asleep", "resizing", "deleting", "gone"]
"""``waiting`` is a base for which no instance is to be had: what was made of it is taken down, and
it begins anew with another type, or later (``lacking``)."""
HostingError = Literal[
    "failed",
    "stuck",
    "no_capacity",
    "limit",
    "name_taken",
    "refused",
    "base_differs",
    "lost",
    "unasked",
]
"""Why it was given up: its host does not start; SageMaker did not get on with it for half an hour,
or it answered nobody for as long; SageMaker had no instance for it for a day, or the account's
quotas have no room for any; something that is not ours has its name; SageMaker does not take the
request, or somebody took down what was being made; other weights lie where its base has its own; it
was there, and is not any more; or its version was asked by nobody."""
Lack = Literal["capacity", "quota", "refused"]
"""Why a type of instance is not to be had: SageMaker has none, the account may have no more, or
SageMaker does not take the type: the region does not have it, or it hosts nothing."""

MODEL, CONFIGURATION, ENDPOINT, COMPONENT = "model", "configuration", "endpoint", "component"
"""Parts of a hosting that are created; an endpoint has the instance. A model is noted where it was
not taken at once, and a configuration where no endpoint was made of it at once."""

STUCK_AFTER = timedelta(minutes=30)
LOADS_WITHIN = timedelta(minutes=20)
"""So long SageMaker lets a host fetch its weights, and as long again start."""
STARTED_AFTER = 2 * LOADS_WITHIN + timedelta(minutes=5)
"""A base that has an instance is given up after so long, and not before SageMaker does."""
SEEN_WITHIN = timedelta(minutes=2)
"""What SageMaker took is known to all of it within so long: its tables are eventually consistent.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
"""
KEPT_FOR = timedelta(hours=24)
"""So long the hosting of a version stays that is retired, or that nobody asks any more, and that of
a model that no version is."""
ASKED_WITHIN = timedelta(hours=6)
"""Whoever wants a model hosted asks again within so long, his execution lost and redriven."""


class Wanted(NamedTuple):
    """What is to be hosted.

    Attributes:
        model: name that no other model ever has.
        artifact: URI of its ``model.tar.gz``, an adapter alone.
        base: what it is an adapter of.
        since: when it began to be wanted; what was given up before is of an earlier wish.
        training: number of the training that wants it.
    """

    task_id: str
    model: str
    artifact: str
    idle_minutes: int
    base: "WantedBase"
    since: datetime | None = None
    training: int | None = None


class WantedBase(NamedTuple):
    """A model that adapters are of.

    Attributes:
        artifact: URI of the folder that has its weights.
        instance_types: where it may be hosted, one at least; the first that is to be had is taken.
        rank: the highest rank of its adapters.
        sha256: digest of the list of its files that its adapters were trained on; None where nobody
            noted it.
    """

    artifact: str
    instance_types: tuple[str, ...]
    rank: int
    sha256: str | None = None


class Lacking(FrozenModel):
    """That no instance was to be had for a base.

    Attributes:
        since: when the first one was not.
        rounds: how often all types were tried in vain.
        lacks: why each was not to be had when it was last tried.
        next: the type that is tried next, and ``not_before`` when.
    """

    since: datetime
    rounds: int
    lacks: Mapping[str, Lack]
    next: str
    not_before: datetime


class Hosting(FrozenModel):
    """What is hosted, and how far that is.

    It has no ``organization_id``: deleting an organisation marks it as unwanted and leaves it to
    the sweeper, which takes down what costs money before it forgets it.

    Attributes:
        name: of endpoint, component, configuration and model; it is used once.
        artifact: URI of what is served.
        base: name of an adapter's base; None for a base.
        instance_type: of a base: the one that it has, or that is tried.
        instance_types: those that it may have, in the order in which they are tried.
        lacking: that there is none for it; None where it has one, or none was tried.
        rank: highest rank of a base's adapters.
        base_sha256: digest of the list of its files that a base is to have, or that an adapter was
            trained on.
        idle_minutes: a base without a call for so long is scaled to zero; as the task had it when
            somebody last asked.
        copies: how many a base is to have.
        created: which parts were created; one that is gone since was taken down by somebody, and is
            not created again.
        error: why it was given up, if it was.
        refusal: SageMaker's own words, where it takes no model of a base, whatever the instance, or
            where the account may have no more adapters.
        since: when it came into its state; while it is made, when its last part was asked for.
        asked_since: of an adapter, when it began to be wanted as it was made.
        begun_at: of an adapter, when it began to be made, whichever base it waits for since.
        training: of an adapter, the number of the training that wanted it last.
        called_at: the last minute in which it answered, as far as anybody noted it.
        wanted_at: the last minute in which somebody was not answered.
        silent_since: the first minute in which it did not answer, of those since it last did; None
            where it does, and where it is not ``ready``.
        unasked_since: when a version that is not retired was first seen to be asked by nobody;
            None where it is asked, and of a base.
        unwanted_at: when its task was deleted; it is taken down whatever else is known.
        counted_until: up to when its instance is in the account; None where it has none.
        made_again: how often it began anew after it was given up, in a row.
        made_again_at: when it last did.
        revision: of what the sweeper wrote.
        due_at: when the sweeper is to look at it.
    """

    name: str
    kind: Kind
    task_id: str
    artifact: str
    base: str | None = None
    instance_type: str | None = None
    instance_types: tuple[str, ...] = ()
    lacking: Lacking | None = None
    rank: int | None = None
    base_sha256: str | None = None
    idle_minutes: int
    copies: int = 1
    created: tuple[str, ...] = ()
    state: State = "creating"
    error: HostingError | None = None
    refusal: str | None = None
    since: datetime
    asked_since: datetime | None = None
    begun_at: datetime | None = None
    training: int | None = None
    called_at: datetime | None = None
    wanted_at: datetime | None = None
    silent_since: datetime | None = None
    unasked_since: datetime | None = None
    unwanted_at: datetime | None = None
    counted_until: datetime | None = None
    made_again: int = 0
    made_again_at: datetime | None = None
    revision: int = 0
    due_at: datetime

    @property
    def served(self) -> ServedModel:
        """What a version of it is known by."""
        is_adapter = self.base is not None
        return ServedModel(
            model=self.name,
            endpoint=self.base or self.name,
            component=self.name if is_adapter else None,
            task_id=self.task_id,
            backend="sagemaker",
        )

    @property
    def types(self) -> tuple[str, ...]:
        """The types of instances that a base may have; one that was stored with one has that."""
        return self.instance_types or (self.instance_type or "",)

    @property
    def may_answer(self) -> bool:
        """Whether it answers, or will once somebody asks."""
        return self.state in {"ready", "asleep", "resizing"} and self.unwanted_at is None

    def failed_for(self, adapter: "Hosting") -> bool:
        """Whether it is a base that was given up after an adapter of it was wanted."""
        return self.error is not None and self.since >= adapter.since

    def with_part(self, part_: str, now: datetime) -> "Hosting":
        """Return it with one more part that was created, which has as long as the one before."""
        if part_ in self.created:
            return self
        return self.model_copy(update={"created": (*self.created, part_), "since": now})

    def is_of_earlier(self, wanted: Wanted) -> bool:
        """Whether it was made when somebody wanted it before."""
        made, now = self.asked_since, wanted.since
        return made is not None and now is not None and made < now

    @property
    def is_silent(self) -> bool:
        """Whether somebody was not answered since it is ready, and nobody was answered after."""
        wanted, called = self.wanted_at, self.called_at
        return wanted is not None and wanted > self.since and (called is None or wanted > called)

    def is_stuck(self, now: datetime) -> bool:
        """Whether SageMaker has been at it for too long."""
        return now - self.since > STUCK_AFTER

    def is_starting(self, now: datetime) -> bool:
        """Whether it is a base whose host may still fetch its weights, or start."""
        is_made = self.state == "creating" and COMPONENT in self.created
        is_waking = self.state == "resizing" and self.copies > 0
        is_base = self.kind == "base"
        return is_base and (is_made or is_waking) and now - self.since <= STARTED_AFTER


def name_of(prefix: str, model: str) -> str:
    """Return the name at SageMaker of a model; it has letters, digits and hyphens alone."""
    return sagemaker_name(prefix, model)


def base_name_of(prefix: str, task_id: str, wanted: WantedBase) -> str:
    """Return the name of a task's base: other weights, first instance or rank have another name.

    Those that are tried after the first may change: a base that has one needs no other for it.
    """
    known_by: tuple[str | int, ...] = (wanted.artifact, wanted.instance_types[0], wanted.rank)
    if wanted.sha256 is not None:
        known_by += (wanted.sha256,)
    digest = hashlib.sha256(json.dumps(known_by).encode()).hexdigest()[:8]
    return sagemaker_name(prefix, f"{task_id}-base-{digest}")


def base_begun(adapter: Hosting, wanted: WantedBase, now: datetime) -> Hosting:
    """Return the base that an adapter is to have, as it begins."""
    assert adapter.base is not None
    return Hosting(
        name=adapter.base,
        kind="base",
        task_id=adapter.task_id,
        artifact=wanted.artifact,
        instance_type=wanted.instance_types[0],
        instance_types=wanted.instance_types,
        rank=wanted.rank,
        base_sha256=wanted.sha256,
        idle_minutes=adapter.idle_minutes,
        since=now,
        due_at=now,
    )


def tags_of(prefix: str, hosting: Hosting) -> list[Mapping[str, str]]:
    """Return the tags that say whose something at SageMaker is."""
    tags = {
        STACK_TAG: prefix,
        "autotune:task": hosting.task_id,
        "autotune:hosting": hosting.name,
    }
    return [{"Key": key, "Value": value} for key, value in tags.items()]
