"""What is noted of versions that answers name, however many they name."""

from datetime import UTC, datetime, timedelta

from autotune_platform.projections.versions import VersionWitness
from autotune_platform.verdicts.decisions import Decision

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Notes:
    """Where versions are noted."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, str]] = []

    def note(self, grader_id: str, version: str) -> None:
        self.noted.append((grader_id, version))


def decision(version: str, *, grader_id: str = "grd_1", second: int = 0) -> Decision:
    return Decision(
        organization_id="org_1",
        batch_id="bat_1",
        index=second,
        grader_id=grader_id,
        grader_version="1.0.0",
        panel_id=None,
        state="scored",
        value=1.0,
        reason_code=None,
        answered_version=version,
        grader_latency_ms=10,
        decided_by="grader",
        decided_at=NOON + timedelta(seconds=second),
    )


def witness() -> tuple[VersionWitness, Notes]:
    notes = Notes()
    return VersionWitness(answered=notes), notes  # type: ignore[arg-type] - as much as it uses


def test_a_grader_that_names_another_version_with_each_answer_costs_one_write() -> None:
    versions, notes = witness()
    for start in range(0, 1_000, 100):
        versions.see(decision(f"0.{at}", second=at) for at in range(start, start + 100))
    assert notes.noted == [("grd_1", "0.99")]


def test_each_grader_is_noted_and_none_that_names_its_own_version() -> None:
    versions, notes = witness()
    versions.see(
        [
            decision("2.0.0", second=1),
            decision("1.0.0", second=2),
            decision("3.0.0", grader_id="grd_2"),
            decision("1.0.0", grader_id="grd_3"),
        ]
    )
    assert sorted(notes.noted) == [("grd_1", "2.0.0"), ("grd_2", "3.0.0")]
