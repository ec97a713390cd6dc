"""What holds fresh labels against calibrations, for whoever stores labels or judgements."""

from typing import TYPE_CHECKING

from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.labels.drifting import DriftWatch
from autotune_platform.decks.labels.of_prompt import PromptSamples
from autotune_platform.decks.labels.pool import SamplePool
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.results import ResultRepository
from autotune_platform.storage.table import Table

if TYPE_CHECKING:
    from autotune_platform.graders.suspending import CalibrationKeeper


def drift_watch(decks_table: Table, registry_table: Table) -> DriftWatch:
    """Return what suspends calibrations; what changes the registry is imported where it does."""

    def keeper() -> "CalibrationKeeper":
        from autotune_platform.graders.repository import GraderRepository  # noqa: PLC0415
        from autotune_platform.graders.suspending import CalibrationKeeper  # noqa: PLC0415

        return CalibrationKeeper(GraderRepository(registry_table))

    return DriftWatch(
        labels=LabelRepository(decks_table),
        results=ResultRepository(decks_table),
        graders=DeckGraderRepository(decks_table),
        of_prompt=PromptSamples(decks=DeckRepository(decks_table), pool=SamplePool(decks_table)),
        made_keeper=keeper,
    )
