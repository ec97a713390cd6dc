"""Setting, reading and deleting tasks of the apprentice."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from autotune.protocol.apprentice_definition import definition_hash
from autotune.protocol.apprentice_models import LocalModel, RemoteModel
from autotune.protocol.apprentice_tasks import (
    TASK_NAME,
    ApprenticeBudgets,
    CustomEvaluator,
    PutApprenticeTaskRequest,
    SemanticSimilarity,
)
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_APPRENTICE_CONFIGURATIONS
from autotune.protocol.llm_connections import nano_usd
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.models import (
    ApprenticeTask,
    Configuration,
    ConfiguredTask,
)
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.configuration.trainable import (
    objection_to_idle_keys,
    objection_to_paying,
    objection_to_training,
)
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.task_money import TaskMoney, TaskSpend
from autotune_platform.budgets.uses import training_of
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.schemas import check_schema
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.ledger.bearer_keys import misplaced
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.outbound.addresses import check_url
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    InvalidRequestError,
    NotFoundError,
    TooManyEntitiesError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.transactions import Write

EVALUATING_KINDS: Final = ("builtin", "http")
"""Kinds of graders that answer while a run waits; people and language models take longer."""

_ATTEMPTS = 8
_SHOWN_EMBEDDINGS = 20


class KnowsBaseModels(Protocol):
    """Knows the base models that whoever deploys has stored."""

    def has(self, base_model: str) -> bool:
        """Return whether there is one of this name."""


class TaskRemains(Protocol):
    """What is kept of a task beside its configurations."""

    def erase(self, task_id: str, *, has_time: Callable[[], bool] = lambda: True) -> bool:
        """Erase all of it, and return whether nothing is left; a repeat goes on with it.

        Args:
            has_time: whether there is time for some hundreds of items more.

        Raises:
            UnavailableError: the table kept something.
        """


class KnowsEmbeddings(Protocol):
    """Knows the embedding models that operators have stored."""

    def has(self, name: str) -> bool:
        """Return whether there is one of this name."""

    def names(self) -> Sequence[str]:
        """Return the names of all."""


@part
class TaskConfigurations:
    """Keeps an organisation's tasks.

    Attributes:
        admit_private: whether models may be served on addresses that are not public.
        instances: what those cost that train; None where no task is put.
        bases: of what is fine-tuned; None where no task is put.
        embeddings: knows embedding models; None where no task is put.
        reconfigured: has somebody look whether a task's training is due; None where none is put.
    """

    repository: TaskRepository
    connections: UsableConnections
    graders: GraderDirectory
    prices: Prices
    admit_private: bool
    money: TaskMoney
    remains: TaskRemains
    instances: InstancePrices | None = None
    bases: KnowsBaseModels | None = None
    embeddings: KnowsEmbeddings | None = None
    reconfigured: Callable[[ApprenticeTask], Write] | None = None
    clock: Clock = SYSTEM_CLOCK

    def put(self, caller: Caller, name: str, request: PutApprenticeTaskRequest) -> ConfiguredTask:
        """Make a task, or give it its next configuration; the same as now changes nothing.

        Raises:
            InvalidRequestError: the name, or something in the configuration cannot be.
            TooManyEntitiesError: the organisation has as many tasks as it may, or the task as many
                configurations.
            UnavailableError: others keep changing the task, or it is being deleted.
        """
        if TASK_NAME.fullmatch(name) is None:
            raise InvalidRequestError.of_field(
                "name", "a lower-case letter, then up to 62 letters, digits and underscores"
            )
        self._require_sense(caller, request)
        document = request.model_dump(mode="json", by_alias=True)
        self._require_trainable(document)
        limits = limits_of(request.budgets)
        for _ in BUSY.attempts(_ATTEMPTS):
            before = self.repository.find(caller.organization_id, name)
            if before is not None and before.state == "deleting":
                self._erase(before)
                before = None
            put = self._put(caller, name, document, before, limits)
            if put is not None:
                # Whoever is killed in between puts the same again, which does this alone.
                spend = self._set_limits(put[0], limits)
                return ConfiguredTask(task=put[0], configuration=put[1], spend=spend)
        raise UnavailableError("others are changing this task", retry_after_seconds=1)

    def get(self, caller: Caller, name: str) -> ConfiguredTask:
        """Return a task with its present configuration.

        Raises:
            NotFoundError: there is none.
        """
        task = self.require(caller, name)
        configuration = self._configuration(task, task.version)
        spend = self.money.spend(task.organization_id, task.id)
        return ConfiguredTask(task=task, configuration=configuration, spend=spend)

    def require(self, caller: Caller, name: str) -> ApprenticeTask:
        """Return a task of the caller's organisation.

        Raises:
            NotFoundError: there is none.
        """
        found = None
        if TASK_NAME.fullmatch(name):
            found = self.repository.find(caller.organization_id, name)
        if found is None or found.state == "deleting":
            raise NotFoundError(f"no task {name}")
        return found

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[ApprenticeTask], str | None]:
        """Return a page of the organisation's tasks, by name."""
        tasks, token = self.repository.list(
            caller.organization_id, limit=limit, next_token=next_token
        )
        return [task for task in tasks if task.state == "kept"], token

    def configuration(self, caller: Caller, name: str, version: int) -> Configuration:
        """Return one version of a task's configuration.

        Raises:
            NotFoundError: there is none.
        """
        return self._configuration(self.require(caller, name), version)

    def configurations(
        self, caller: Caller, name: str, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[Configuration], str | None]:
        """Return a page of the versions of a task's configuration, newest first.

        Raises:
            NotFoundError: there is no such task.
        """
        task = self.require(caller, name)
        return self.repository.configurations(task.id, limit=limit, next_token=next_token)

    def delete(self, caller: Caller, name: str) -> str:
        """Delete a task with all that is kept of it; return its id.

        What is killed in between leaves a task that is being deleted: nobody sees it, and the next
        request that names it, to delete or to set it, goes on.

        Raises:
            NotFoundError: there is none.
            UnavailableError: others keep changing the task.
        """
        for _ in BUSY.attempts(_ATTEMPTS):
            task = self.repository.find(caller.organization_id, name) if name else None
            if task is None:
                raise NotFoundError(f"no task {name}")
            if task.state == "deleting" or self.repository.mark(task, self.clock.now()):
                self._erase(task)
                return task.id
        raise UnavailableError("others are changing this task", retry_after_seconds=1)

    def _erase(self, task: ApprenticeTask) -> None:
        for scope in (task.id, training_of(task.id)):
            self.money.close(task.organization_id, scope)
        self.remains.erase(task.id)
        self.repository.erase(task)

    def _set_limits(self, task: ApprenticeTask, limits: MoneyLimits) -> TaskSpend:
        return self.money.put(
            task.organization_id, task.id, limits, name=task.name, version=task.version
        )

    def _put(
        self,
        caller: Caller,
        name: str,
        document: dict[str, object],
        before: ApprenticeTask | None,
        limits: MoneyLimits,
    ) -> tuple[ApprenticeTask, Configuration] | None:
        """Store a configuration; return None where somebody else changed the task."""
        now = self.clock.now()
        if before is not None:
            present = self.repository.configuration(before.id, before.version)
            if present is None:
                return None
            if present.document == document:
                return before, present
            _require_room(before)
        after = ApprenticeTask(
            id=before.id if before else new_id("apt"),
            organization_id=caller.organization_id,
            name=name,
            description=str(document["description"]),
            version=before.version + 1 if before else 1,
            definition_hash=definition_hash(document),
            created_at=before.created_at if before else now,
            created_by=before.created_by if before else caller.principal_id,
            updated_at=now,
            sampling_key=before.sampling_key if before else secrets.token_hex(32),
        )
        added = Configuration(
            task_id=after.id,
            organization_id=after.organization_id,
            version=after.version,
            definition_hash=after.definition_hash,
            document=document,
            created_at=now,
            created_by=caller.principal_id,
        )
        if before is None:
            # Before the task is there: nothing is ever paid for it without its limits.
            self._set_limits(after, limits)
            is_stored = False
            try:
                is_stored = self.repository.add(after, added)
            finally:
                if not is_stored:
                    self.money.close(after.organization_id, after.id)
        else:
            assert self.reconfigured is not None, "whoever puts tasks has their trainings begin"
            also = [self.reconfigured(after)] if document["training"] else []
            is_stored = self.repository.change(before, after, added, *also)
        return (after, added) if is_stored else None

    def _configuration(self, task: ApprenticeTask, version: int) -> Configuration:
        found = self.repository.configuration(task.id, version)
        if found is None:
            raise NotFoundError(f"task {task.name} has no configuration {version}")
        return found

    def _require_sense(self, caller: Caller, request: PutApprenticeTaskRequest) -> None:
        for field, schema in (
            ("inputSchema", request.input_schema),
            ("outputSchema", request.output_schema),
        ):
            try:
                check_schema(schema, field=field)
            except CompletionFaultError as error:
                raise InvalidRequestError.of_field(
                    field, "a schema that takes less work to check"
                ) from error
        self._require_priced(caller, request.remote.primary, "remote.primary")
        for place, model in enumerate(request.remote.additional):
            self._require_priced(caller, model, f"remote.additional[{place}]")
        if request.local.url is not None:
            check_url(request.local.url, field="local.url", admit_private=self.admit_private)
            self._require_key(caller, request.local)
        if isinstance(request.evaluator, CustomEvaluator):
            self._require_grader(caller, request.evaluator.grader_id)
        if isinstance(request.evaluator, SemanticSimilarity):
            self._require_embeddings(request.evaluator.embedding_model)

    def _require_embeddings(self, name: str) -> None:
        assert self.embeddings is not None, "whoever puts tasks looks for embedding models"
        if self.embeddings.has(name):
            return
        names = self.embeddings.names()
        there = ", ".join(names[:_SHOWN_EMBEDDINGS]) or "none, until the operator has stored one"
        rest = len(names) - _SHOWN_EMBEDDINGS
        raise InvalidRequestError.of_field(
            "evaluator.embeddingModel",
            "an embedding model that the operator has stored, by its whole name",
            detail=f"there is no embedding model of this name; there are: {there}"
            + (f", and {rest} more" if rest > 0 else ""),
        )

    def _require_trainable(self, document: Mapping[str, Any]) -> None:
        """Require that what trains, serves and judges can work together, and can be paid for."""
        assert self.instances is not None, "whoever puts tasks knows what instances cost"
        assert self.bases is not None, "and what there is to fine-tune"
        found = (
            objection_to_training(document)
            or objection_to_paying(document, self.instances)
            or objection_to_idle_keys(document)
        )
        if found is not None:
            raise InvalidRequestError.of_field(found.field, found.expected, detail=found.detail)
        base = (document["training"] or {}).get("baseModel")
        if base is not None and not self.bases.has(base):
            raise InvalidRequestError.of_field(
                "training.baseModel",
                "a base model that is stored here",
                detail=f"no base model {base} is stored here; whoever deploys stores it",
            )

    def _require_key(self, caller: Caller, local: LocalModel) -> None:
        """Require that the key of a server of the small model may be sent to it."""
        if local.connection_id is None or local.url is None:
            return
        field = "local.connectionId"
        connection = self.connections.require(
            caller.organization_id, local.connection_id, field=field
        )
        expected = misplaced(connection, local.url)
        if expected is not None:
            raise InvalidRequestError.of_field(field, expected)

    def _require_priced(self, caller: Caller, model: RemoteModel, field: str) -> None:
        connection = self.connections.require(
            caller.organization_id, model.connection_id, field=f"{field}.connectionId"
        )
        if self.prices.find(connection, model.model, processing="standard") is None:
            raise InvalidRequestError.of_field(
                f"{field}.model",
                "a model whose price is known",
                detail=f"no price is known for {model.model}; give the connection one in prices",
            )

    def _require_grader(self, caller: Caller, grader_id: str) -> None:
        try:
            grader = self.graders.get_visible(caller, "organization", grader_id)
        except NotFoundError as error:
            raise InvalidRequestError.of_field(
                "evaluator.graderId", "a grader that this organisation may use"
            ) from error
        if grader.kind not in EVALUATING_KINDS:
            kinds = " or ".join(EVALUATING_KINDS)
            raise InvalidRequestError.of_field(
                "evaluator.graderId",
                f"a grader of kind {kinds}, not {grader.kind}: runs wait for what it says",
            )


def limits_of(budgets: ApprenticeBudgets) -> MoneyLimits:
    """Return the limits of a task's scope of money."""
    amounts = {"day": budgets.daily, "week": budgets.weekly, "month": budgets.monthly}
    return MoneyLimits(
        **{name: nano_usd(amount) for name, amount in amounts.items() if amount is not None}
    )


def _require_room(task: ApprenticeTask) -> None:
    most = MAX_APPRENTICE_CONFIGURATIONS
    if task.version >= most:
        raise TooManyEntitiesError(
            f"task {task.name} has {most} configurations; delete it, or make another",
            limit=LimitProblem(
                name="configurations", maximum=most, unit="configurations", actual=most
            ),
        )
