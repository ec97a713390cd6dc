"""One run of everything at once, in stages."""

import math
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from autotune import AutotuneClient
from local.records import LocalProfile
from local.stack import LocalStack
from tests.chaos.diseases import (
    DEADLINE_SECONDS,
    DOWN_FOR_GOOD,
    HOLDING,
    THINKING_SECONDS,
    Patient,
)
from tests.chaos.faults import Saboteur
from tests.chaos.invariants import Finding, Verdicts, is_late, moment
from tests.chaos.load import Load
from tests.chaos.operator import Operator
from tests.chaos.patience import Patience
from tests.chaos.stream import VerdictStream
from tests.chaos.subscribers import Subscriber
from tests.chaos.tables import Item, Tables
from tests.chaos.throttling import ThrottlingProxy
from tests.chaos.waiting import Span, nobody_waits_behind

QUIET_SECONDS = 240
"""A restart takes as long beside much other work, and what waits for a deadline half of it."""

USUAL_SECONDS = 530
"""A storm takes less on two quiet cores."""

MOST_SECONDS = 3_600
WARM_UP_EACH = 2
WARM_UP_SECONDS = 4
WARM_UP_THINKING_SECONDS = 3.0
ROUND_SECONDS = 5
MEETS_NOBODY_SECONDS = 30
"""Longer than the SDK tries by itself."""
MOST_ROUNDS = 5
COMPLETIONS_PER_ROUND = 1_000
THROTTLED_TABLE = "Completions"
THROTTLED_SHARE = 0.4
CANCELED_SHARE = 0.05
SWEPT_AT_ONCE = 20
"""Batches driven again together: each is a run, and MiniStack takes a second to start a worker."""

SWEPT_AGAIN_AFTER = 60
"""Seconds; a batch that was just redriven needs time for its run."""


class Chaos:
    """The stages of a run; what they bring to light is checked when they are over."""

    def __init__(
        self,
        stack: LocalStack,
        profile: LocalProfile,
        patients: list[Patient],
        subscribers: list[Subscriber],
        proxy: ThrottlingProxy,
        console: Console,
        *,
        seed: int,
    ) -> None:
        self._stack = stack
        self._proxy = proxy
        self._console = console
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._rounds = MOST_ROUNDS
        self._open = ExitStack()
        self.patients = patients
        self.subscribers = subscribers
        self.profile = profile
        self._clients = [self._new_client()]
        self.operator = Operator(profile.aws_endpoint_url)
        self.saboteur = Saboteur(stack, seed=seed)
        self.stream = VerdictStream()
        self.load = Load(
            lambda: self._clients[-1],
            profile,
            on_accepted=self.saboteur.remember,
            is_over=lambda: self._ended.is_set() or self._is_given_up(),
            seed=seed,
        )
        self.wanted = 0
        self.restarts = 0
        self.statuses: dict[str, list[str]] = {}
        self._patience = Patience(
            self._progress, quiet_seconds=QUIET_SECONDS, most_seconds=MOST_SECONDS
        )

    def run(self, completions: int) -> None:
        """Submit, sabotage, restart, and wait until all have their verdicts, or nothing moves."""
        self._rounds = min(max(completions // COMPLETIONS_PER_ROUND, 2), MOST_ROUNDS)
        each = completions // len(self.patients)
        calm = each * 3 // 10
        self.stream.follow(self.profile.aws_endpoint_url)
        self.operator.hasten_redelivery(self.profile.aws_endpoint_url)
        self.load.admit(self.patients)
        for subscriber in self.subscribers:
            subscriber.subscribe(self._clients[-1])
        self._warm_up()
        self._say(f"calm: {calm} completions for each of {len(self.patients)} graders, all well")
        self._submit("calm", calm)
        self._await_decided("calm", {patient.name for patient in self.patients})
        for patient in self.patients:
            patient.is_ill = True
        self._say("sick: the same again, and all but two graders are ill")
        self._submit("sick", calm)
        self._await_decided("sick", {one.name for one in self.patients if one.is_healthy})
        self._probe(8)
        self._say("faults: killed workers, doubled messages, a throttled table, a restart")
        self._break_things(each - 2 * calm - WARM_UP_EACH)
        self.wanted = each * len(self.patients)
        self._drive_to_the_end()
        self._tell_the_rest()
        self.stream.stop()
        self._say(self._patience.why or "settled")

    def close(self) -> None:
        """End what still runs."""
        self.saboteur.stop()
        self.stream.stop()
        self._open.close()

    def api_counts(self) -> dict[str, dict[str, int]]:
        """Return what the API counts for each batch."""
        batches = {one.batch_id for one in self.load.accepted.values()}
        client = self._clients[-1]
        return {id_: client.batches.get(id_).counts.model_dump() for id_ in sorted(batches)}

    @property
    def directory(self) -> Path:
        """Folder of the stack."""
        return self._stack.directory

    def tables(self) -> Tables:
        """Return the tables as they are now."""
        return Tables(self.profile.aws_endpoint_url)

    def _new_client(self) -> AutotuneClient:
        profile = self.profile
        client = AutotuneClient(base_url=profile.base_url, api_key=profile.api_key)
        return self._open.enter_context(client)

    def _warm_up(self) -> None:
        """Start as many workers as sick graders will keep busy: each takes a second to start."""
        for patient in self.patients:
            patient.thinking_seconds = WARM_UP_THINKING_SECONDS
        # Few at first: what starts all at once starts more workers than there will be use for.
        for place, some in enumerate((self.patients[:1], self.patients[1:4], self.patients[4:])):
            stage = f"warm-up-{place}"
            self.load.submit(
                stage, some, each=WARM_UP_EACH, rounds=1, round_seconds=WARM_UP_SECONDS
            )
            self._await_decided(stage, {patient.name for patient in some})
        for patient in self.patients:
            patient.thinking_seconds = THINKING_SECONDS

    def _submit(self, stage: str, each: int, *, cancels: float = 0) -> None:
        self.load.submit(
            stage,
            self.patients,
            each=each,
            rounds=self._rounds,
            round_seconds=ROUND_SECONDS,
            cancels=cancels,
        )

    def spans(self, stage: str, verdicts: Verdicts) -> list[Span]:
        """Return when healthy graders' completions of a stage were submitted and decided."""
        healthy = {one.name for one in self.patients if one.is_healthy}
        return [
            Span(moment(item, "submitted_at"), moment(item, "decided_at"))
            for one in self.load.accepted.values()
            if one.stage == stage and one.patient in healthy
            for item in verdicts.get(one.id, [])
        ]

    def waiting_finding(self, verdicts: Verdicts) -> Finding:
        """Count who of healthy graders ended after what sick neighbours held."""
        held = {
            patient.name: [
                Span(since, moment(item, "decided_at"))
                for id_, since in patient.struck_at.items()
                for item in verdicts.get(id_, [])
            ]
            for patient in self.patients
            if patient.name in HOLDING
        }
        return nobody_waits_behind("sick neighbours", self.spans("sick", verdicts), held)

    def _break_things(self, each: int) -> None:
        with ThreadPoolExecutor(max_workers=1) as beside, ExitStack() as leaving:
            leaving.callback(self._ended.set)  # whatever ends this ends submission
            self.saboteur.start()
            submitting = beside.submit(self._submit, "faults", each, cancels=CANCELED_SHARE)
            fifth = self._rounds * ROUND_SECONDS / 5
            time.sleep(fifth)
            self._throttle(fifth)
            time.sleep(fifth)
            self.saboteur.stop()
            self._restart()
            self.saboteur.start()
            self._throttle(fifth)
            submitting.result()
        self._probe(2)
        self.saboteur.stop()

    def _throttle(self, seconds: float) -> None:
        self._proxy.throttle(THROTTLED_TABLE, share=THROTTLED_SHARE)
        time.sleep(seconds)
        self._proxy.relax()

    def _restart(self) -> None:
        """Stop the stack in order and start it again: tables and queues stay, runs are gone."""
        self._say("stopping the stack")
        self.load.may_repeat.clear()
        self.stream.stop()
        # In a process of its own, as `make down` does it: this process's threads take their turns.
        command = [sys.executable, "-m", "local", "--directory", str(self._stack.directory), "down"]
        # Where the machine is too busy it is killed after a minute; its state is saved by then,
        # and if it were not, the invariants would tell.
        subprocess.run(command, check=False, capture_output=True)
        assert not self._stack.status().is_running
        # What is submitted now is to find nobody, and be submitted again.
        until = time.monotonic() + MEETS_NOBODY_SECONDS
        while not self.load.repeated.total() and time.monotonic() < until:
            time.sleep(0.2)
        try:
            self.profile = self._stack.up()
        finally:
            self.load.may_repeat.set()
        self._clients.append(self._new_client())
        self.operator = Operator(self.profile.aws_endpoint_url)
        self.stream.follow(self.profile.aws_endpoint_url)
        self.restarts += 1
        self._say("started it again")

    def _probe(self, times: int) -> None:
        for _ in range(times):
            self.operator.probe_graders()
            for patient in self.patients:
                status = self.operator.status_of(self.load.grader_id(patient))
                self.statuses.setdefault(patient.name, []).append(status)

    def _await_decided(self, stage: str, names: Collection[str]) -> None:
        wanted = {
            one.id
            for one in self.load.accepted.values()
            if one.stage == stage and one.patient in names
        }
        while not self._is_given_up() and not wanted <= {pk for pk, _ in list(self.stream.written)}:
            time.sleep(0.3)

    def _drive_to_the_end(self) -> None:
        swept: dict[str, float] = {}
        while not self._is_given_up():
            pending = self._pending()
            self._say(f"{len(pending)} pending")
            if all(map(self._can_no_longer_hold, pending)):
                return
            now = time.monotonic()
            due = {
                item["batch_id"]
                for item in pending
                if now - swept.get(item["batch_id"], -math.inf) > SWEPT_AGAIN_AFTER
            }
            some = sorted(due)[:SWEPT_AT_ONCE]
            if some:
                self.operator.sweep(some)
                swept |= dict.fromkeys(some, now)
            time.sleep(4)

    def _tell_the_rest(self) -> None:
        """Wait for the events; what the schedule would try again in minutes is tried now."""
        while not self._is_given_up():
            missed = sum(self._missed(subscriber) for subscriber in self.subscribers)
            opened, waiting = self.operator.close_batches(), self.operator.deliver()
            self._say(f"{missed} events not yet told, {waiting} to be tried again, {opened} open")
            if not missed:
                return
            time.sleep(4)

    def _missed(self, subscriber: Subscriber) -> int:
        accepted = self.load.accepted.values()
        batches = {one.batch_id for one in accepted}
        wanted = {"score.completed": len(accepted), "batch.completed": len(batches)}
        told = subscriber.told()
        return sum(wanted[one] - told[one] for one in subscriber.event_types)

    def _pending(self) -> list[Item]:
        """Return what is accepted and has no verdict."""
        items = list(self.tables().items("Completions"))
        decided = {item["pk"] for item in items if item["sk"].startswith("verdict#")}
        return [item for item in items if item["sk"] == "content" and item["pk"] not in decided]

    def _can_no_longer_hold(self, pending: Item) -> bool:
        """Tell whether waiting is of no use, because a deadline was missed for certain."""
        accepted = self.load.accepted.get(pending["pk"])
        if accepted is None or accepted.patient != DOWN_FOR_GOOD:
            return False
        submitted = datetime.fromisoformat(pending["created_at"])
        return is_late(
            submitted, datetime.now(UTC), seconds=DEADLINE_SECONDS, slowness=self.slowness
        )

    def _is_given_up(self) -> bool:
        return self._patience.is_over()

    def _progress(self) -> tuple[int, ...]:
        """Return what has come about: what is only tried again is none of it."""
        told = [subscriber.told().total() for subscriber in self.subscribers]
        return len(self.load.accepted), len(self.stream.written), self.restarts, *told

    @property
    def slowness(self) -> float:
        """How many times as long it has taken by now as on a quiet machine; 1 at least."""
        return max(1.0, (time.monotonic() - self._started) / USUAL_SECONDS)

    def _say(self, what: str) -> None:
        self._console.print(f"{time.monotonic() - self._started:4.0f} s  {what}", highlight=False)
