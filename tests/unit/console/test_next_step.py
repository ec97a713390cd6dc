"""The page of a deck proposes what its least advanced grader waits for."""

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
RUNS = [{"id": "drn_1"}]
LABELLED = {"drawn": 50}
TRUSTED = {"published": {"version": 1}, "calibration": {"suspended": None}}


def proposed(*decks: dict[str, Any]) -> list[dict[str, Any] | None]:
    ran = subprocess.run(
        [
            "node",
            str(Path(__file__).with_name("next_step.mjs")),
            (ROOT / "console/pages/decks/next-step.js").as_uri(),
        ],
        input=json.dumps(decks),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: list[dict[str, Any] | None] = json.loads(ran.stdout)
    return found


def grader(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "status": "active", "version": 1, **fields}


def read(name: str, **fields: Any) -> dict[str, Any]:
    return {"graderId": name, "version": 1, "sufficient": True, "low": 0.5, **fields}


def of_deck(
    *graders: dict[str, Any],
    agreement: tuple[dict[str, Any], ...] = (),
    rated: tuple[str, ...] = ("a", "b"),
    samples: int = 9,
    runs: list[dict[str, str]] = RUNS,
) -> dict[str, Any]:
    return {
        "deck": {"id": "d", "samples": samples, "agreement": agreement},
        "graders": graders,
        "runs": runs,
        "rated": dict.fromkeys(rated, LABELLED),
    }


def test_a_deck_goes_from_samples_to_a_task() -> None:
    a = "decks/d/graders/a"
    of_a = grader("a", **TRUSTED)
    suspended = {**TRUSTED, "calibration": {"suspended": {"at": "2026-01-01"}}}
    steps = [
        (of_deck(grader("a"), samples=0), "decks/d/samples", None),
        (of_deck(), "decks/d/graders/new", None),
        (of_deck(grader("a", status="proposed")), a, None),
        (of_deck(grader("a"), runs=[]), "decks/d/runs", None),
        (of_deck(grader("a"), rated=()), "labelling/d/a", "a"),
        (of_deck(grader("a")), f"{a}/agreement", "a"),
        (of_deck(grader("a"), agreement=(read("a", sufficient=False),)), f"{a}/agreement", "a"),
        (of_deck(grader("a"), agreement=(read("a", low=0.39),)), f"{a}/fix", "a"),
        (of_deck(grader("a"), agreement=(read("a", low=None),)), f"{a}/fix", "a"),
        (of_deck(grader("a"), agreement=(read("a"),)), f"{a}/published", "a"),
        (of_deck(grader("a", **suspended), agreement=(read("a"),)), f"{a}/published", "a"),
        (of_deck(of_a, agreement=(read("a"),)), "tasks", "a"),
        (of_deck(grader("a", status="retired")), None, None),
    ]
    found = proposed(*(deck for deck, _, _ in steps))
    expected = [None if to is None else {"to": to, "grader": who} for _, to, who in steps]
    assert found == expected


def test_of_several_graders_the_one_that_is_least_far_is_next() -> None:
    done = grader("a", **TRUSTED)
    b = grader("b")
    all_but_published = of_deck(done, b, agreement=(read("a"), read("b")))
    not_read = of_deck(done, b, agreement=(read("a"),))
    older = of_deck(grader("a"), grader("b", version=2), agreement=(read("a", low=0), read("b")))
    disagrees = of_deck(done, b, agreement=(read("a"), read("b", low=0.1)))
    retired = of_deck(done, grader("b", status="retired"), agreement=(read("a"),))
    both = of_deck(grader("a"), b, rated=())
    found = proposed(all_but_published, not_read, older, disagrees, retired, both)
    assert found == [
        {"to": "decks/d/graders/b/published", "grader": "b"},
        {"to": "decks/d/graders/b/agreement", "grader": "b"},
        {"to": "decks/d/graders/b/agreement", "grader": "b"},
        {"to": "decks/d/graders/b/fix", "grader": "b"},
        {"to": "tasks", "grader": "a"},
        {"to": "labelling/d/a", "grader": "a"},
    ]
