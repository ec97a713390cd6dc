"""An organisation that means harm, beside one that works: the second is not to notice.

The attacker has the limits of a small organisation, and goes beyond each of them: it floods the
API, submits what begins as many runs as one request can, holds every place for waiting, has graders
whose answers are as large and as wrong as they may be, and patterns and headers that are made to
take long. The other organisation trickles completions to a grader of its own, before and meanwhile.
"""

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import httpx
from rich.console import Console

from autotune import APIError, AutotuneClient, AutotuneError
from local.memory_limits import kills_in
from local.stack import LocalStack
from tests.chaos import invariants
from tests.chaos.deciding import decided
from tests.chaos.invariants import Finding, Verdicts, moment
from tests.chaos.leaving import search
from tests.chaos.permissions import permissions_finding
from tests.chaos.report import show_latencies
from tests.chaos.tables import Item, Tables
from tests.chaos.tenants import another_organization, new_task, operate
from tests.chaos.texts import TEXT
from tests.chaos.waiting import Span, nobody_is_passed
from tests.security.hostile_grader import KINDS
from tests.support.graders import Exchange, loopback_grader

LIMITS = {
    "requestsPerSecond": 20,
    "requestsPerSecondOfKey": 8,
    "openCompletions": 100,
    "runsPerRequest": 10,
    "waitingRequests": 2,
    "graders": 16,
}
"""Of the attacker: as small for one machine as the usual ones are for an account of AWS."""

TRICKLED = 40
TRICKLE_SECONDS = 0.4
PAUSE_SECONDS = 0.4
MOST_AT_ONCE = 50

HELD = 60
"""Places of open completions that are held for good, so that the other attacks have some."""

ENDLESS_AT_ONCE, MORE_THAN_LEFT = 20, 50
KNOWN_AFTER_SECONDS = 11
"""By then each process of the API has counted anew what is open: each may admit more meanwhile."""

ANSWERED_WITHIN = 300.0
"""Seconds: floods on a machine that is slow are answered late, and what hangs is never answered."""

NEVER = datetime.max.replace(tzinfo=UTC)
REFUSALS = {
    "too_many_requests",
    "too_many_runs",
    "too_many_open_completions",
    "limit_reached",
    "invalid_request",
    "request_too_large",
}
"""What an attacker is told; anything but these is a fault of ours."""


@dataclass
class Attacker:
    """Attacks by name, each again and again until the end; counts what they were answered."""

    client: AutotuneClient
    holding: AutotuneClient
    flooding: AutotuneClient
    url: str
    task_ids: list[str]
    panel_id: str
    builtin_id: str
    endless_id: str
    reward_url: str
    answers: Counter[str] = field(default_factory=Counter)
    answered: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    held: int = 0

    def attacks(self) -> dict[str, Callable[[], object]]:
        return {
            "floods of requests": self._flood,
            "requests that begin many runs": self._fan_out,
            "completions that nobody decides": self._endless,
            "graders with answers of 4 MB": self._large_answers,
            "patterns that take long": self._patterns,
            "floods of headers": self._headers,
            "requests that wait": self._wait,
            "registrations without end": self._register,
        }

    def attack(self, name: str, ended: Event) -> None:
        """Attack in one way until the end."""
        once = self.attacks()[name]
        while not ended.is_set():
            try:
                once()
                answer = "accepted"
            except APIError as error:
                answer = error.code
            except (AutotuneError, httpx.TransportError) as error:
                answer = type(error).__name__
            self.answers[answer] += 1
            self.answered[name][answer] += 1
            ended.wait(PAUSE_SECONDS)

    @property
    def begun(self) -> dict[str, int]:
        """How often each attack was carried out."""
        return {name: self.answered[name].total() for name in self.attacks()}

    def _flood(self) -> None:
        for _ in range(MOST_AT_ONCE):
            self.flooding.tasks.get(self.panel_id)

    def _endless(self) -> None:
        """Hold most places with what nobody decides; then ask for more than are left."""
        if self.held >= HELD:
            self._submit(self.holding, *[self.endless_id] * MORE_THAN_LEFT)
            return
        self._submit(self.holding, *[self.endless_id] * ENDLESS_AT_ONCE)
        self.held += ENDLESS_AT_ONCE
        if self.held >= HELD:
            time.sleep(KNOWN_AFTER_SECONDS)

    def _fan_out(self) -> None:
        self._submit(self.holding, self.panel_id, *self.task_ids)

    def _large_answers(self) -> None:
        self._submit(self.client, self.task_ids[0])

    def _patterns(self) -> None:
        self._submit(self.client, self.builtin_id, response="a" * 20_000 + "!")

    def _submit(self, client: AutotuneClient, *task_ids: str, response: str = TEXT) -> None:
        completions = [
            {"taskId": task_id, "modelId": "m", "prompt": "p", "response": response}
            for task_id in task_ids
        ]
        list(client.completions.submit_many(completions))

    def _headers(self) -> None:
        """Send what nobody signed, with as many headers as a server takes."""
        many = {f"x-{number}": "x" * 500 for number in range(90)}
        answer = httpx.get(f"{self.url}/api/v1/tasks", headers=many, timeout=ANSWERED_WITHIN)
        self.answers[f"unsigned: {answer.status_code}"] += 1

    def _wait(self) -> None:
        question = {"query": ["pr"], "prompts": ["p"], "labels": [str(time.monotonic())]}
        url = f"{self.reward_url}/openrlhf?wait=10"
        answer = httpx.post(url, json=question, timeout=ANSWERED_WITHIN)
        self.answers[f"reward URL: {answer.status_code}"] += 1

    def _register(self) -> None:
        self.holding.graders.register(
            name="n", kind="builtin", builtin={"type": "exact_match", "reference": "4"}
        )


def attack(console: Console) -> list[Finding]:
    """Let one organisation attack beside another's trickle; return what was found."""
    with (
        TemporaryDirectory(prefix="autotune-hostile-") as folder,
        loopback_grader() as healthy,
        LocalStack(directory=Path(folder)) as profile,
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as victim,
        ExitStack() as running,
    ):
        organization_id, api_key = another_organization(profile)
        opened = partial(
            AutotuneClient, base_url=profile.base_url, max_retries=0, timeout=ANSWERED_WITHIN
        )
        client = running.enter_context(opened(api_key=api_key))
        # A key for each purpose, as a key has a limit of its own: no flood is to keep the rest out.
        keys = [api_key, *(client.keys.create(name="k", role="admin").api_key for _ in range(2))]
        holding, flooding = (running.enter_context(opened(api_key=key)) for key in keys[1:])
        attacker = running.enter_context(_armed(client, holding, flooding, profile.base_url))
        operate(
            profile,
            "ManageOrganizations",
            action="limit",
            organizationId=organization_id,
            limits=LIMITS,
        )
        tables = Tables(profile.aws_endpoint_url)
        task_id = new_task(victim, healthy)
        accepted = _trickle(victim, task_id, TRICKLED // 4)  # so that every function has started
        accepted += (undisturbed := _trickle(victim, task_id, TRICKLED))
        decided(tables, undisturbed)
        with _attacking(attacker):
            accepted += _trickle(victim, task_id, TRICKLED // 4)
            accepted += (beside := _trickle(victim, task_id, TRICKLED))
            decided(tables, beside)
        verdicts = decided(tables, accepted)
        stages = {"calm": _spans(undisturbed, verdicts), "attacked": _spans(beside, verdicts)}
        show_latencies(console, stages)
        console.print(f"hostile: {len(accepted)} completions beside {_told(attacker.answers)}")
        for name, answers in attacker.answered.items():
            console.print(f"hostile: {name}: {_told(answers)}")
        refused = {code: attacker.answers[code] for code in ("too_many_requests", *_LIMITS_MET)}
        stored = list(tables.items("Completions"))
        items = [item for item in stored if item.get("organization_id") != organization_id]
        attacks = _attacks(attacker, stored)
        return [
            invariants.every_fault_happened({**attacker.begun, **refused}),
            invariants.nothing_accepted_is_lost(accepted, items),
            invariants.everything_is_decided(accepted, verdicts),
            invariants.all_are_scored("who works beside an attacker is scored", accepted, verdicts),
            nobody_is_passed("an attacker", stages["attacked"], attacks),
            _only_refusals(attacker),
            invariants.no_function_outgrew_its_memory(kills_in(Path(folder))),
            search(profile, api_keys=keys, secrets=[healthy.secret]),
            permissions_finding(Path(folder), suite="hostile", console=console),
        ]


_LIMITS_MET = ("too_many_runs", "too_many_open_completions", "limit_reached")


@contextmanager
def _armed(
    client: AutotuneClient, holding: AutotuneClient, flooding: AutotuneClient, url: str
) -> Iterator[Attacker]:
    """Register what attacks need, while the limits are still those of everybody."""
    with ExitStack() as running:
        graders = []
        for kind in itertools.islice(itertools.cycle(KINDS), 9):
            grader = running.enter_context(loopback_grader())
            task_id = new_task(client, grader)
            grader.disease = _answering_with(kind)
            graders.append((task_id, client.tasks.get(task_id).grader_id))
        members = {grader_id: 1.0 for _, grader_id in graders if grader_id}
        panel = client.tasks.create(name="panel", graders=members, quorum=1)
        pattern = {"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}
        builtin = client.graders.register(
            name="slow", kind="builtin", builtin={"type": "json_schema", "schema": pattern}
        ).grader
        task_ids = [task_id for task_id, _ in graders]
        people = client.graders.register(name="nobody", kind="human").grader
        endless_id = client.tasks.create(name="endless", grader_id=people.id).id
        reward_url = client.reward_urls.create(name="r", task_id=endless_id, model_id="m").url
        yield Attacker(
            client=client,
            holding=holding,
            flooding=flooding,
            url=url,
            task_ids=task_ids,
            panel_id=panel.id,
            builtin_id=client.tasks.create(name="slow", grader_id=builtin.id).id,
            endless_id=endless_id,
            reward_url=reward_url,
        )


def _answering_with(kind: str) -> Callable[[Exchange], None]:
    """Answer questions as a hostile grader does, and add a thousand headers."""

    def disease(exchange: Exchange) -> None:
        exchange.body = KINDS[kind](exchange).encode()
        exchange.headers |= {f"x-{number}": "x" * 40 for number in range(1_000)}

    return disease


@contextmanager
def _attacking(attacker: Attacker) -> Iterator[None]:
    names = list(attacker.attacks())
    ended = Event()
    # Some waits and floods at the same time, as whoever means harm would.
    often = [*names, "requests that wait", "requests that wait", "floods of requests"]
    with ThreadPoolExecutor(len(often)) as threads:
        running = [threads.submit(attacker.attack, name, ended) for name in often]
        try:
            yield
        finally:
            ended.set()
        for one in running:
            one.result()


def _trickle(client: AutotuneClient, task_id: str, count: int) -> list[str]:
    """Submit one completion after the other, wait for none of them; return their ids."""
    accepted = []
    for number in range(count):
        submitted = client.completions.submit(
            task_id=task_id, model_id="m", prompt=f"p{number}", response=TEXT
        )
        accepted.append(submitted.completion.id)
        time.sleep(TRICKLE_SECONDS)
    return accepted


def _told(answers: Counter[str]) -> str:
    return ", ".join(f"{count} {code}" for code, count in sorted(answers.items()))


def _spans(completion_ids: Sequence[str], verdicts: Verdicts) -> list[Span]:
    return [
        Span(moment(one, "submitted_at"), moment(one, "decided_at"))
        for id_ in completion_ids
        for one in verdicts.get(id_, [])[:1]
    ]


def _attacks(attacker: Attacker, items: Sequence[Item]) -> list[Span]:
    """Return when the attacker's completions were open that graders decide.

    What has no verdict is open still: whoever had one went before it.
    """
    task_ids = {*attacker.task_ids, attacker.builtin_id}
    verdicts = invariants.verdicts_by_completion(items)
    return [
        Span(moment(item, "created_at"), moment(verdicts[id_][0], "decided_at"))
        if (id_ := item["pk"]) in verdicts
        else Span(moment(item, "created_at"), NEVER)
        for item in items
        if item["sk"] == "content" and item["task_id"] in task_ids
    ]


def _only_refusals(attacker: Attacker) -> Finding:
    """Each attack is accepted within its limits or refused beyond; none breaks anything."""
    expected = REFUSALS | {"accepted"}
    violations = [
        f"{count} answers {code}"
        for code, count in attacker.answers.items()
        if code not in expected and not code.startswith(("unsigned: 4", "reward URL: "))
    ]
    violations += [
        f"{attacker.answers[code]} answers {code}"
        for code in attacker.answers
        if code.startswith("reward URL: 50") and not code.endswith("503")
    ]
    return Finding("an attack is refused, and breaks nothing", attacker.answers.total(), violations)
