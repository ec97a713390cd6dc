"""What is known of data sets for good: the split of a definition, and what was frozen.

``pk=apt_…`` has ``sk=data#split#<definition hash>`` once something was frozen of the definition,
and ``sk=data#set#<training id>``, the manifest of a data set.
"""

from collections.abc import Sequence

from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.examples.items import DATA
from autotune_platform.apprentice.examples.manifests import Manifest
from autotune_platform.apprentice.examples.sides import Split
from autotune_platform.storage.counting import Addition, Check
from autotune_platform.storage.table import Table

_SPLIT = f"{DATA}split#"
_SET = f"{DATA}set#"


class SplitRepository:
    """Splits and manifests in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @property
    def table(self) -> str:
        """The table's name."""
        return self._table.name

    def find(self, task_id: str, definition_hash: str) -> Split | None:
        """Return the split that holds for good; None where nothing was frozen."""
        item = self._table.get(task_id, _SPLIT + definition_hash)
        return Split(float(item["holdout"]), tuple(item["split_by"])) if item else None

    def manifest(self, task_id: str, training_id: str) -> Manifest | None:
        """Return the data set of a training."""
        item = self._table.get(task_id, _SET + training_id)
        return Manifest.model_validate_json(item["manifest"]) if item else None

    def fixing(self, task: ApprenticeTask, definition_hash: str, split: Split) -> Addition:
        """Return what makes a split hold for good, if none does."""
        return Addition(
            table=self._table.name,
            pk=task.id,
            sk=_SPLIT + definition_hash,
            changes={
                "organization_id": task.organization_id,
                "holdout": split.holdout,
                "split_by": list(split.split_by),
            },
            only_if={"holdout": None},
        )

    def keeping(self, task: ApprenticeTask, manifest: Manifest) -> Addition:
        """Return what stores the data set of a training, if it has none."""
        return Addition(
            table=self._table.name,
            pk=task.id,
            sk=_SET + manifest.training_id,
            changes={
                "organization_id": task.organization_id,
                # As text, which loses no digit.
                "manifest": manifest.model_dump_json(),
            },
            only_if={"manifest": None},
        )

    def write(self, writes: Sequence[Addition | Check], *, token: str) -> bool:
        """Do all writes; return False where something is not as it was read."""
        return self._table.write_together(writes, token=token) is None
