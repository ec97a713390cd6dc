"""What is known of a task's versions, as far as evidence needs it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.evidence import Evidence
from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.apprentice.phases import Version


@dataclass(frozen=True)
class KnownVersion:
    """A version of the small model.

    Attributes:
        number: later ones have higher numbers.
        definition_hash: of the definition that it was made for.
        is_hosted: whether it can be asked.
        canary_at: the pair after which it passed its canary.
        served: what it is known by where it is served.
    """

    number: int
    definition_hash: str
    is_hosted: bool
    canary_at: int | None
    served: ServedModel

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> "KnownVersion":
        """Return what an item of a version says."""
        return cls(
            number=item["number"],
            definition_hash=item["definition_hash"],
            is_hosted=item["state"] == "hosted",
            canary_at=item.get("canary_at"),
            served=ServedModel(
                item["model"], item.get("digest"), item.get("endpoint"), item.get("component")
            ),
        )

    def with_evidence(self, evidence: Evidence) -> Version:
        """Return it as phases are derived from it."""
        return Version(
            number=self.number,
            evidence=evidence,
            is_hosted=self.is_hosted,
            canary_at=self.canary_at,
            is_retired=not self.is_hosted,
        )


def attempts(versions: Iterable[KnownVersion]) -> dict[int, int]:
    """Return the how many-th version each one is under its definition, by number, from 1."""
    counted: dict[str, int] = {}
    found: dict[int, int] = {}
    for one in sorted(versions, key=lambda one: one.number):
        counted[one.definition_hash] = counted.get(one.definition_hash, 0) + 1
        found[one.number] = counted[one.definition_hash]
    return found


def known_versions(items: Sequence[Mapping[str, Any]]) -> dict[int, KnownVersion]:
    """Return versions by number."""
    return {one.number: one for one in map(KnownVersion.from_item, items)}
