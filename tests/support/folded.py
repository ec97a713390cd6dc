"""What is stored of a task once its runs were folded, and what it has to be."""

from autotune_platform.apprentice.evidence import Evidence, Rules, folded
from autotune_platform.apprentice.folding.models import DayCounts, StoredEvidence
from autotune_platform.apprentice.folding.settings import rules_of
from tests.support.apprentice_folding import DAY, Apprentice


def counts(apprentice: Apprentice, day: str = DAY) -> DayCounts:
    [found] = apprentice.evidence.days(apprentice.task.id, day, day)
    return found


def stored(apprentice: Apprentice, version: int = 1) -> StoredEvidence | None:
    return apprentice.evidence.find(apprentice.task.id, [version]).get(version)


def rules(apprentice: Apprentice, attempt: int = 1) -> Rules:
    answer = apprentice.platform.call("GET", f"/api/v1/apprentice/tasks/{apprentice.name}")
    return rules_of(answer.json["task"]["configuration"], attempt=attempt)


def rebuilt(apprentice: Apprentice, version: int = 1, attempt: int = 1) -> Evidence:
    pairs = apprentice.evidence.pairs(apprentice.task.id, version)
    return folded(pairs, rules(apprentice, attempt))
