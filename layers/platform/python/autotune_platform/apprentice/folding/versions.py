"""A task's versions, as evidence needs them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autotune_platform.apprentice.configuration.items import model_from
from autotune_platform.apprentice.evidence import Evidence
from autotune_platform.apprentice.phases import Version
from autotune_platform.apprentice.versions.models import ModelVersion


def with_evidence(version: ModelVersion, evidence: Evidence) -> Version:
    """Return a version as phases are derived from it."""
    return Version(
        number=version.number,
        evidence=evidence,
        is_hosted=version.is_hosted,
        canary_at=version.canary_at,
        is_retired=not version.is_hosted,
    )


def attempts(versions: Iterable[ModelVersion]) -> dict[int, int]:
    """Return the how many-th version each one is under its definition, by number, from 1."""
    counted: dict[str, int] = {}
    found: dict[int, int] = {}
    for one in sorted(versions, key=lambda one: one.number):
        counted[one.definition_hash] = counted.get(one.definition_hash, 0) + 1
        found[one.number] = counted[one.definition_hash]
    return found


def versions_in(items: Sequence[Mapping[str, Any]]) -> dict[int, ModelVersion]:
    """Return the versions that items store, by number."""
    return {one.number: one for one in (model_from(item, ModelVersion) for item in items)}
