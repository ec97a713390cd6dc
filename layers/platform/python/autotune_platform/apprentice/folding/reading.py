"""Reading the pairs of a version."""

from collections.abc import Sequence
from datetime import UTC, datetime

from autotune.protocol.apprentice_pairs import ApprenticeVersionPair
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.folding.models import StoredPair
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part


@part
class PairReading:
    """Reads what evidence is made of."""

    tasks: TaskConfigurations
    repository: EvidenceRepository

    def page(
        self, caller: Caller, name: str, version: int, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[StoredPair], str | None]:
        """Return a page of a version's pairs, newest first.

        Raises:
            NotFoundError: there is no such task, or it has no such version.
            InvalidRequestError: ``next_token`` is not from this list.
        """
        task = self.tasks.require(caller, name)
        if not self.repository.has_version(task.id, version):
            raise NotFoundError(f"task {name} has no version {version}")
        return self.repository.page_of_pairs(task.id, version, limit=limit, next_token=next_token)


def pair_on_wire(pair: StoredPair) -> ApprenticeVersionPair:
    """Return a pair as callers see it."""
    at = datetime.fromtimestamp(pair.at, UTC)
    return ApprenticeVersionPair.model_validate({**pair.model_dump(), "at": at})
