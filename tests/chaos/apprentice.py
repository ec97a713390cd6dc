"""Tasks of the apprentice while functions are killed and both models misbehave.

One task goes through all phases: its small model is a process that dies, hangs and answers
nonsense. Another has a budget for few answers, and refuses the rest. The paid model is slow,
refuses, and takes money for answers that never arrive. What time alone would bring is brought by
hand: calls that were lost are made due, and their runs are handed over again.
"""

import math
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rich.console import Console

from autotune import AutotuneClient
from autotune.client.errors import APIError, ConnectionFailedError
from autotune_platform.apprentice.evidence import Rules
from autotune_platform.budgets.uses import task_scope
from local.records import LocalProfile
from local.stack import LocalStack
from tests.chaos import apprentice_invariants as held
from tests.chaos import invariants
from tests.chaos.apprentice_faults import Mishaps
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.apprentice_load import Load
from tests.chaos.apprentice_money import Looks
from tests.chaos.invariants import Finding
from tests.chaos.operator import Operator
from tests.chaos.patience import Patience
from tests.chaos.permissions import permissions_finding
from tests.chaos.student import INTENTS, MODEL, STRIKES, MortalStudent
from tests.chaos.tables import PAST, Tables
from tests.chaos.teacher import KEY, PRICES, TRAPPED, Teacher, teaching
from tests.chaos.teacher import MODEL as TEACHER_MODEL
from tests.chaos.texts import TEXT
from tests.support.traces import Places

SEED = 20_261_127
STEADY, POOR = "steady", "poor"
EXAMPLES = 50
STAGES = ((STEADY, EXAMPLES + 8), (POOR, 30), (STEADY, 35), (STEADY, 60))
"""Of the steady task: to have examples, to graduate, and to be answered by the small model."""

OUTPUT_TOKENS = 60
STEADY_USD, POOR_USD, ORGANIZATION_USD = Decimal("0.5"), Decimal("0.001"), Decimal("0.6")
THRESHOLDS = {"phase2ToPhase3": 0.5, "coachingTrigger": 0.3, "emergencyThreshold": 0.1}
"""Low, so that a version graduates on a dozen pairs."""

TIMEOUT_SECONDS = 5
LOAD_QUIET_SECONDS, LOAD_MOST_SECONDS = 120, 1_800
SETTLES_QUIET_SECONDS, SETTLES_MOST_SECONDS = 90, 900
LOST_AFTER_SECONDS = TIMEOUT_SECONDS * 3
"""So long nothing changes before what waits for a lost call is given up, as ten minutes do it."""

HANDED_OVER_EVERY_SECONDS = 20
GRADUATES_QUIET_SECONDS, GRADUATES_MOST_SECONDS = 15, 120
MORE_RUNS, MOST_MORE = 10, 6
"""Inputs that are sent again and again where faults took so many pairs that none graduates."""

MOST_UNTIL_STRUCK = 30
"""How often as many are sent where all are answered before each fault has struck."""

_NANO = 1_000_000_000


def apprentice(console: Console) -> list[Finding]:
    """Send runs through everything; return what was found."""
    started = time.monotonic()
    student = MortalStudent()
    with (
        TemporaryDirectory(prefix="autotune-apprentice-") as folder,
        teaching(SEED) as teacher,
        LocalStack(directory=Path(folder)) as profile,
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as client,
    ):
        try:
            stack = LocalStack(directory=Path(folder))
            suite = Suite(stack, profile, client, teacher, student)
            suite.run(console)
            console.print(f"apprentice: {time.monotonic() - started:.0f} s")
            return suite.findings(console)
        finally:
            student.die()


class Open(NamedTuple):
    """What has not ended: runs, counts that are not those of the runs, and calls of the ledger."""

    runs: Sequence[str]
    uncounted: Sequence[str]
    calls: Sequence[str]


class Suite:
    """One organisation with its two tasks."""

    def __init__(
        self,
        stack: LocalStack,
        profile: LocalProfile,
        client: AutotuneClient,
        teacher: Teacher,
        student: MortalStudent,
    ) -> None:
        self._stack, self._profile, self._client = stack, profile, client
        self._teacher, self._student = teacher, student
        self._tables = Tables(profile.aws_endpoint_url)
        self._operator = Operator(profile.aws_endpoint_url)
        self._load = Load(client, SEED)
        self._mishaps = Mishaps(
            stack,
            student,
            lambda: list(self._load.run_ids.values()),
            progress=self._progress,
            seed=SEED,
        )
        self._task_ids: dict[str, str] = {}
        self._is_promoted = False

    def run(self, console: Console) -> None:
        """Set everything up, send all runs amid faults, and let what was lost be found."""
        self._student.live()
        self._operator.hasten_redelivery(self._profile.aws_endpoint_url)
        connection = self._client.llm.connections.create(
            name="teacher",
            provider="openai",
            base_url=self._teacher.base_url,
            api_key=KEY,
            prices=PRICES,
            timeout_seconds=TIMEOUT_SECONDS,
        )
        self._client.llm.set_budget(day_usd=ORGANIZATION_USD)
        for name, usd, exhausted in ((STEADY, STEADY_USD, "local"), (POOR, POOR_USD, "fail")):
            made = self._client.apprentice_tasks.put(
                name, configuration=self._configuration(connection.id, usd, exhausted)
            )
            self._task_ids[name] = made.id
        self._client.apprentice.versions.register(STEADY, model=MODEL)
        organization = self._profile.organization_id
        self._looks = Looks(
            self._tables,
            self._teacher,
            organization,
            {
                organization: int(ORGANIZATION_USD * _NANO),
                task_scope(organization, self._task_ids[STEADY]): int(STEADY_USD * _NANO),
                task_scope(organization, self._task_ids[POOR]): int(POOR_USD * _NANO),
            },
        )
        patience = Patience(
            self._progress,
            quiet_seconds=LOAD_QUIET_SECONDS,
            most_seconds=LOAD_MOST_SECONDS,
        )
        self._teacher.arm()
        self._looks.start()
        self._mishaps.start()
        try:
            for number, (name, runs) in enumerate(STAGES):
                self._load.send(name, runs, is_over=patience.is_over)
                if name == STEADY and number:
                    self._promote(patience)
                # What a process knows of a task it knows for half a minute.
                self._mishaps.forget()
            # On a fast machine all is answered before each fault has struck.
            for _ in range(MOST_UNTIL_STRUCK):
                if self._mishaps.all_struck:
                    break
                self._load.send(STEADY, MORE_RUNS, is_over=patience.is_over)
            self._mishaps.stop()
            self._teacher.disarm()
            self._settle(console)
        finally:
            self._mishaps.stop()
            self._looks.stop()

    def findings(self, console: Console) -> list[Finding]:
        """Check every invariant."""
        kept = self._kept()
        billed = self._teacher.billed()
        organization = self._profile.organization_id
        spent = {scope: self._looks.spent(scope) for scope in self._looks.limits}
        steady = self._task_ids[STEADY]
        faults = self._faults(kept)
        self._tell(console, kept, billed, spent[organization], faults)
        return [
            held.every_run_is_there(self._load.taken, self._load.wanted, kept),
            held.every_run_ended(kept),
            held.runs_add_up(kept, list(self._task_ids.values())),
            held.each_call_is_booked_once(kept, self._teacher.billed_by_case()),
            held.the_ledger_covers_the_bill(kept, billed, spent, organization),
            self._looks.finding(),
            self._looks.settled_finding(),
            held.evidence_is_rebuilt(
                kept,
                steady,
                lambda _: Rules(
                    graduation=THRESHOLDS["phase2ToPhase3"],
                    coaching=THRESHOLDS["coachingTrigger"],
                    emergency=THRESHOLDS["emergencyThreshold"],
                ),
            ),
            held.pairs_are_of_answers(kept, steady),
            Finding("a key has one run", self._load.repeated, self._load.moved),
            invariants.every_fault_happened(faults),
            held.texts_and_secrets_stay(
                Places(self._profile.aws_endpoint_url, since=0).left_behind(),
                TEXT,
                [KEY, self._profile.api_key.partition(".")[2]],
            ),
            permissions_finding(self._stack.directory, suite="apprentice", console=console),
        ]

    def _configuration(self, connection_id: str, usd: Decimal, exhausted: str) -> dict[str, object]:
        return {
            "description": "Tells what a customer wants.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
                "additionalProperties": False,
            },
            "outputSchema": {
                "type": "object",
                "properties": {"intent": {"enum": list(INTENTS)}},
                "required": ["intent"],
            },
            "systemPrompt": "You tell intents apart.",
            "promptTemplate": "What does the customer want? {{text}}",
            "remote": {
                "primary": {
                    "connectionId": connection_id,
                    "model": TEACHER_MODEL,
                    "maxOutputTokens": OUTPUT_TOKENS,
                    "timeoutS": TIMEOUT_SECONDS,
                    "maxRetries": 2,
                }
            },
            "local": {"backend": "vllm", "url": self._student.url, "timeoutMs": 1_500},
            "evaluator": {"type": "structured_match", "matchFields": ["intent"]},
            "thresholds": {"phase1ToPhase2": EXAMPLES, **THRESHOLDS},
            "sampling": {"decay": "exponential"},
            "budgets": {"daily": f"{usd:f}", "whenExhausted": exhausted},
        }

    def _promote(self, load: Patience) -> None:
        """Have the version answer once it has graduated, which its pairs are counted for."""
        for _ in range(MOST_MORE):
            counted = Patience(
                lambda: len(self._kept().pairs_of(self._task_ids[STEADY], 1)),
                quiet_seconds=GRADUATES_QUIET_SECONDS,
                most_seconds=GRADUATES_MOST_SECONDS,
            )
            while not counted.is_over():
                with suppress(APIError, ConnectionFailedError):
                    self._client.apprentice.versions.promote(STEADY, 1)
                    self._is_promoted = True
                    return
                time.sleep(1)
            if self._is_promoted:
                return  # and it may have come to nothing since
            self._load.send(STEADY, MORE_RUNS, is_over=load.is_over)

    def _settle(self, console: Console) -> None:
        """Let all runs end: calls whose workers were killed are made due, as time would."""
        open_ = self._open()
        patience = Patience(
            lambda: open_,
            quiet_seconds=SETTLES_QUIET_SECONDS,
            most_seconds=SETTLES_MOST_SECONDS,
        )
        handed_over: dict[str, float] = {}
        rounds = 0
        while any(open_) and not patience.is_over():
            rounds += 1
            # Whoever is at work still, on a slow machine, changes something before.
            if patience.quiet_for() > LOST_AFTER_SECONDS:
                self._find_lost_calls()
            now = time.monotonic()
            for run_id in open_.runs:
                if now - handed_over.get(run_id, -math.inf) > HANDED_OVER_EVERY_SECONDS:
                    self._mishaps.hand_over(run_id)
                    handed_over[run_id] = now
            time.sleep(2)
            open_ = self._open()
        ended = patience.why or "settled"
        console.print(f"apprentice: {ended}, in {rounds} rounds", highlight=False)

    def _open(self) -> Open:
        """Return what has not ended."""
        kept = self._kept()
        left = [
            id_
            for id_, run in kept.runs.items()
            if run["state"] == "pending" or run.get("check") == "due"
        ]
        uncounted = held.runs_add_up(kept, list(self._task_ids.values())).violations
        return Open(left, list(uncounted), [str(one["pk"]) for one in self._lost_calls()])

    def _lost_calls(self) -> list[dict[str, object]]:
        return [
            one
            for one in self._tables.items("Ledger")
            if one.get("apprentice_run_id") and "open_shard" in one
        ]

    def _find_lost_calls(self) -> None:
        for item in self._lost_calls():
            with suppress(self._tables.gone):  # it was settled in the meantime
                self._tables.set("Ledger", item, while_it_has="open_shard", due_at=PAST)
        self._operator.sweep_ledger()

    def _progress(self) -> tuple[int, int]:
        """Return how many inputs were taken, and how often the paid model was asked."""
        return len(self._load.taken), len(self._teacher.asked)

    def _kept(self) -> Kept:
        return Kept.of(list(self._tables.items("Apprentice")), list(self._tables.items("Ledger")))

    def _faults(self, kept: Kept) -> dict[str, int]:
        struck = self._teacher.struck
        ends = Counter(held.answer_of(run) for run in kept.runs.values())
        phases = Counter(int(run.get("phase") or 0) for run in kept.runs.values())
        return {
            "functions killed": self._mishaps.killed.total(),
            "messages doubled": self._mishaps.doubled,
            "requests repeated": self._load.repeated,
            **{f"paid model: {name}": struck[name] for name in sorted(TRAPPED)},
            **{f"small model {name}": self._student.struck[name] for name in sorted(STRIKES)},
            **{f"runs {name}": ends[name] for name in ("local", "remote", "refused")},
            **{f"runs of phase {phase}": phases[phase] for phase in (1, 2, 3)},
        }

    def _tell(
        self, console: Console, kept: Kept, billed: int, spent: int, faults: dict[str, int]
    ) -> None:
        ends = Counter(held.answer_of(run) for run in kept.runs.values())
        assumed = sum(held.is_assumed(row) for row in kept.rows.values())
        console.print(
            f"apprentice: {len(kept.runs)} runs, {dict(ends)}; {len(kept.rows)} rows, "
            f"{assumed} assumed; billed {billed:,}, spent {spent:,} nano-USD; "
            f"killed {dict(self._mishaps.killed)}; calls that failed "
            f"{dict(self._load.failed_calls)}; faults {faults}",
            highlight=False,
        )
