"""Registering, listing, promoting and retiring versions of a task's small model."""

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol.apprentice_versions import RegisterApprenticeVersion
from autotune.protocol.limits import MAX_APPRENTICE_VERSIONS, MOST_VERSION_CHANGES
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.models import ConfiguredTask
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.folding.settings import rules_of
from autotune_platform.apprentice.folding.versions import attempts
from autotune_platform.apprentice.local.contract import Reason
from autotune_platform.apprentice.local.exchanging import ModelServers, NoAnswerError
from autotune_platform.apprentice.local.listing import REGISTERED, Listed, look
from autotune_platform.apprentice.versions.changes import VersionChange
from autotune_platform.apprentice.versions.evidence import Graduation, graduation_of
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.outbound.connections import time_limit
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooManyEntitiesError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY

_ATTEMPTS = 8
_LOOK_SECONDS = 8
"""An HTTP API waits 30 s for an answer."""


@part
class ModelVersions:
    """Keeps the versions of a task's small model.

    Attributes:
        servers: asks where models are served.
    """

    tasks: TaskConfigurations
    repository: VersionRepository
    servers: ModelServers
    clock: Clock = SYSTEM_CLOCK

    def register(
        self, caller: Caller, name: str, request: RegisterApprenticeVersion
    ) -> tuple[ConfiguredTask, ModelVersion]:
        """Make a version of a model that the task's server has, under the present definition.

        One that is hosted already, the same model under the same definition, is returned as it is.

        Raises:
            NotFoundError: there is no such task.
            ConflictError: versions of the task's backend are trained, and not registered.
            InvalidRequestError: the server does not list the model, or does not answer.
            TooManyEntitiesError: the task had as many versions as it may.
            UnavailableError: others keep changing the task.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            configured = self.tasks.get(caller, name)
            listed = self._listed(configured, request.model)
            known = self.repository.all_of(configured.task.id)
            made = self._next(caller, configured, listed, known)
            found = next((one for one in known if _is_same(one, made)), None)
            if found is not None:
                return configured, found
            if len(known) >= MAX_APPRENTICE_VERSIONS:
                raise _too_many(name)
            if self.repository.add(configured.task, made):
                return configured, made
        raise UnavailableError("others are changing this task", retry_after_seconds=1)

    def list(
        self, caller: Caller, name: str, *, limit: int, next_token: str | None
    ) -> tuple[ConfiguredTask, Sequence[ModelVersion], str | None]:
        """Return a page of a task's versions, newest first.

        Raises:
            NotFoundError: there is no such task.
        """
        configured = self.tasks.get(caller, name)
        found, token = self.repository.list(configured.task.id, limit=limit, next_token=next_token)
        return configured, found, token

    def get(self, caller: Caller, name: str, number: int) -> tuple[ConfiguredTask, ModelVersion]:
        """Return one version.

        Raises:
            NotFoundError: there is no such task, or no such version.
        """
        configured = self.tasks.get(caller, name)
        return configured, self._require(configured, number)

    def changes(self, version: ModelVersion) -> Sequence[VersionChange]:
        """Return the last things that pairs did to a version, in the order of its pairs."""
        return self.repository.changes(version.task_id, version.number, limit=MOST_VERSION_CHANGES)

    def retire(self, caller: Caller, name: str, number: int) -> tuple[ConfiguredTask, ModelVersion]:
        """Take a version out for good; one that is out stays as it is.

        If it served, the one before serves from then on whose own evidence says that it may; if
        there is none, the paid model answers.

        Raises:
            NotFoundError: there is no such task, or no such version.
        """
        return self._retired(caller, name, number)

    def _retired(
        self, caller: Caller, name: str, number: int, *, was_canary: bool = False
    ) -> tuple[ConfiguredTask, ModelVersion]:
        configured, version = self.get(caller, name, number)
        if version.is_hosted:
            changes = {
                "state": "retired",
                "retired_at": self.clock.now(),
                "retired_by": caller.principal_id,
                "was_canary": was_canary,
            }
            retired = version.model_copy(update=changes)
            version = (
                retired if self.repository.retire(retired) else self._require(configured, number)
            )
        return configured, version

    def roll_back(
        self, caller: Caller, name: str, number: int
    ) -> tuple[ConfiguredTask, ModelVersion]:
        """Retire the version that serves, if one before it may serve; return that one.

        One in its canary is retired as well: whoever answered all others goes on to. The version
        that serves is returned, and the one that was rolled back where none does. A repeat goes
        back no further.

        Raises:
            NotFoundError: there is no such task, or no such version.
            ConflictError: the version does not serve, or none before it may.
            UnavailableError: evidence is being folded by other rules.
        """
        configured, version = self.get(caller, name, number)
        known = self.repository.all_of(configured.task.id)
        serving = self._serving(configured, known)
        if not version.is_hosted:
            if serving is not None and serving.number < number:
                return configured, serving
            if serving is None and version.was_canary:
                return configured, version
            raise ConflictError(f"version {number} is retired")
        if self._is_canary(configured, version, serving):
            configured, version = self._retired(caller, name, number, was_canary=True)
            return configured, version if serving is None else serving
        if serving is None or serving.number != number:
            by = "none does" if serving is None else f"version {serving.number} does"
            raise ConflictError(f"version {number} does not serve: {by}")
        before = self._serving(configured, [one for one in known if one.number < number])
        if before is None:
            raise ConflictError(
                f"no version before {number} may serve by its own evidence; retire version "
                f"{number} to have the paid model answer"
            )
        self.retire(caller, name, number)
        return configured, before

    def promote(
        self, caller: Caller, name: str, number: int
    ) -> tuple[ConfiguredTask, ModelVersion]:
        """Take a version's canary as passed, if it graduated by its own evidence.

        One that passed it since then stays as it is.

        Raises:
            NotFoundError: there is no such task, or no such version.
            ConflictError: it is retired, of another definition, or has not graduated.
            UnavailableError: its evidence, or the task, keeps changing.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            configured, version = self.get(caller, name, number)
            graduation = self._graduation(configured, version)
            passed = version.canary_at
            if passed is not None and passed >= graduation.graduated_at:
                return configured, version
            promoted = version.model_copy(
                update={
                    "canary_at": graduation.sequence,
                    "promoted_at": self.clock.now(),
                    "promoted_by": caller.principal_id,
                }
            )
            if self.repository.promote(
                configured.task, version, promoted, revision=graduation.revision
            ):
                return configured, promoted
        raise UnavailableError("others are changing this version", retry_after_seconds=1)

    def _listed(self, configured: ConfiguredTask, model: str) -> Listed:
        local: Mapping[str, Any] = configured.configuration.document["local"]
        backend = local["backend"]
        if backend not in REGISTERED:
            raise ConflictError(
                f"local.backend is {backend}, whose versions are trained; registered are models of "
                + ", ".join(sorted(REGISTERED))
            )
        try:
            with time_limit(_LOOK_SECONDS):
                servers = self.servers.with_key(local.get("connectionId"), local["url"])
                return look(servers, backend, local["url"], model)
        except NoAnswerError as error:
            detail = f"the server at local.url cannot be asked: {error.detail}"
            if error.reason in {Reason.NO_MODEL, Reason.NOT_READY, Reason.REFUSED}:
                detail = f"at local.url: {error.detail}"
            raise InvalidRequestError.of_field(
                "model", "a model that the server at local.url lists", detail=detail
            ) from error

    def _next(
        self,
        caller: Caller,
        configured: ConfiguredTask,
        listed: Listed,
        known: Sequence[ModelVersion],
    ) -> ModelVersion:
        task = configured.task
        return ModelVersion(
            task_id=task.id,
            organization_id=task.organization_id,
            number=known[-1].number + 1 if known else 1,
            definition_hash=task.definition_hash,
            backend=configured.configuration.document["local"]["backend"],
            model=listed.model,
            digest=listed.digest,
            created_at=self.clock.now(),
            created_by=caller.principal_id,
        )

    def _graduation(self, configured: ConfiguredTask, version: ModelVersion) -> Graduation:
        task = configured.task
        if not version.is_hosted:
            raise ConflictError(f"version {version.number} is retired")
        if version.definition_hash != task.definition_hash:
            raise ConflictError(
                f"version {version.number} was registered under another definition of {task.name}"
            )
        stored = self.repository.evidence(task.id, version.number)
        if stored is None:
            raise ConflictError(f"version {version.number} has no pairs yet, so no evidence")
        places = attempts(self.repository.all_of(task.id))
        rules = rules_of(
            configured.configuration.document,
            attempt=places[version.number],
            needs_gate=version.needs_gate,
        )
        return graduation_of(stored, rules)

    def _serving(
        self, configured: ConfiguredTask, known: Sequence[ModelVersion]
    ) -> ModelVersion | None:
        """Return the latest of some versions that graduated and passed its canary since."""
        for one in reversed(known):
            passed = one.canary_at
            if passed is None:
                continue
            try:
                if passed >= self._graduation(configured, one).graduated_at:
                    return one
            except ConflictError:
                continue
        return None

    def _is_canary(
        self, configured: ConfiguredTask, version: ModelVersion, serving: ModelVersion | None
    ) -> bool:
        """Whether a version has graduated, and is not the one that serves, nor one before it."""
        if serving is not None and serving.number >= version.number:
            return False
        try:
            self._graduation(configured, version)
        except ConflictError:
            return False
        return True

    def _require(self, configured: ConfiguredTask, number: int) -> ModelVersion:
        found = self.repository.find(configured.task.id, number)
        if found is None:
            raise NotFoundError(f"task {configured.task.name} has no version {number}")
        return found


def _is_same(one: ModelVersion, made: ModelVersion) -> bool:
    names = ("definition_hash", "backend", "model", "digest", "state")
    return all(getattr(one, name) == getattr(made, name) for name in names)


def _too_many(name: str) -> TooManyEntitiesError:
    most = MAX_APPRENTICE_VERSIONS
    return TooManyEntitiesError(
        f"task {name} had {most} versions of its small model; make another task",
        limit=LimitProblem(name="versions", maximum=most, unit="versions", actual=most),
    )
