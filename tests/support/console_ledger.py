"""A ledger with something of everything that the console shows of one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from tests.support.imports import Imports, jsonl, openai_line
from tests.support.ledger import KEY, Ledger
from tests.support.ledger import ledger as make_ledger
from tests.support.platform import Platform

MODEL = "gpt-5-mini"
PRICES = {
    MODEL: {"inputUsd": "0.25", "outputUsd": "2", "batchInputUsd": "0.125", "batchOutputUsd": "1"}
}
VERDICT = {"type": "label", "labels": ["good", "poor"]}


@dataclass
class FilledLedger:
    """What there is: ids, and the ledger while its provider still answers.

    Attributes:
        good: a request whose answer was read.
        unread: one whose answer holds no verdict.
        paused: a connection that the provider refused.
        unclear: a batch of whose job nobody knows whether it was created.
        candidates: the provider's jobs that may be it.
        imported: an import of two lines, of which one was rejected.
    """

    ledger: Ledger
    connection: str
    good: str
    unread: str
    paused: str
    unclear: str
    candidates: list[str]
    imported: str


@contextmanager
def filled_ledger(platform: Platform) -> Iterator[FilledLedger]:
    """Provide a ledger with requests that were answered, refused, imported, and are unclear."""
    with make_ledger(platform) as ledger:
        ledger.fake.world.keys["compatible"] = {KEY: "main"}
        connection = ledger.connect(name="judges")
        ledger.fake.world.answers.answerer = _answer
        good = _asked(ledger, connection, "Is this right? {{proof}}", count=3)
        unread = _asked(ledger, connection, "Is this hard? {{proof}}", purpose="audit")
        imported = _imported(ledger, connection)
        # One time for all: starts within a second are one.
        ledger.run()
        paused = ledger.connect(name="lapsed", apiKey="of-nobody")
        ledger.enqueue(paused, "never asked")
        ledger.run()
        unclear = _unclear(ledger)
        yield FilledLedger(
            ledger,
            connection,
            good,
            unread,
            paused,
            unclear["id"],
            unclear["job"]["candidates"],
            imported,
        )


def _answer(asked: Any) -> str:
    return "Both hold.\nVERDICT: good" if "right" in str(asked) else "I cannot say."


def _asked(ledger: Ledger, connection: str, user: str, *, count: int = 1, **fields: Any) -> str:
    asked = {
        "input": {
            "system": "You judge proofs.",
            "user": user,
            "variables": {"proof": "2 + 2 = 4, " * 12},
        },
        "verdict": VERDICT,
        "labels": {"step": "4"},
        **fields,
    }
    return str(ledger.enqueue(connection, *["q"] * count, **asked)[0])


def _imported(ledger: Ledger, connection: str) -> str:
    imports = Imports(ledger)
    content = jsonl(openai_line("first"), openai_line("second", temperature="hot"))
    imported = imports.start(connection, content)
    imports.run(imported)
    return imported


def _unclear(ledger: Ledger) -> dict[str, Any]:
    """Have a job created whose answer is lost, where two jobs may be it."""
    ledger.fake.world.traps.arm(name="create_answer_lost", times=1)
    connection = ledger.connect(
        name="openai", provider="openai", baseUrl=f"{ledger.fake.base_url}/v1", prices=PRICES
    )
    ledger.enqueue(connection, "first question", "second question", model=MODEL)
    search = OpenAiJobs.search

    def doubled(self: Any, *args: Any) -> Any:
        found = search(self, *args)
        return found if isinstance(found, Refusal) else [*found, "batch_twin"]

    with patch.object(OpenAiJobs, "search", doubled):
        for state in ledger.started():
            _until_unclear(ledger, state)
    (batch,) = [one for one in ledger.batches() if (one["job"] or {}).get("candidates")]
    return batch


def _until_unclear(ledger: Ledger, state: dict[str, Any]) -> None:
    """Do steps of an execution until it is to look for a job that may have been created."""
    for _ in range(6):
        state = ledger.step(state)
        if state["done"]:
            return
