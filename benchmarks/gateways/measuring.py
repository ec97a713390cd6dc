"""Measures gateways side by side, each before a fake of the provider of its own."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.gateways import run_cpu
from benchmarks.gateways.apprentice_gateway import ApprenticeGateway
from benchmarks.gateways.asking import Work, ask, work
from benchmarks.gateways.deployed import Deployed
from benchmarks.gateways.gateway import Door, Gateway
from benchmarks.gateways.litellm_gateway import ENVIRONMENT, PACKAGE, litellm_gateway
from benchmarks.gateways.our_gateway import OurGateway
from benchmarks.gateways.run_cpu import RunCpu
from benchmarks.gateways.saying import answer_of
from benchmarks.gateways.storms import Storm, storms
from benchmarks.gateways.student import student
from benchmarks.llm_provider import provider
from benchmarks.stand import stand
from integrations.environments import InstallationError

REQUESTS = 200
AT_ONCE = (1, 8)
MAX_TOKENS = 400


@dataclass
class Measured:
    """What was measured, and why something was not."""

    works: list[Work] = field(default_factory=list)
    storms: list[Storm] = field(default_factory=list)
    runs: list[RunCpu] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def measure() -> Measured:
    """Ask each gateway 200 times, one by one and eight at once, and storm its budgets."""
    measured = Measured()
    try:
        for is_strict in (False, True):
            _say(f"LiteLLM's proxy{', strict' if is_strict else ''}, which is installed first")
            with (
                provider(answer_of(MAX_TOKENS)) as url,
                litellm_gateway(url, is_strict=is_strict) as theirs,
            ):
                if not is_strict:
                    measured.works += _works(theirs, theirs.door(max_tokens=MAX_TOKENS))
                measured.storms += storms(theirs, url)
    except InstallationError as error:
        measured.missing.append(f"{PACKAGE} {ENVIRONMENT.version_of(PACKAGE)}: {error}")
    with provider(answer_of(MAX_TOKENS)) as url, stand() as made, student() as student_url:
        deployed = Deployed(made, url)
        passed, paid = OurGateway(deployed), ApprenticeGateway(deployed)
        _say(passed.name)
        measured.works += _works(passed, passed.door(max_tokens=MAX_TOKENS))
        # The small model has the paid one agree with it, from then on.
        for gateway in (paid, ApprenticeGateway(deployed, student_url)):
            _say(gateway.name)
            door = gateway.door(max_tokens=MAX_TOKENS)
            measured.works += _works(gateway, door)
            measured.runs.append(run_cpu.measure(deployed, door, who=gateway.who))
        for ours in (passed, paid):
            measured.storms += storms(ours, url)
    return measured


def remote_runs() -> RunCpu:
    """Have the worker answer 100 runs by the paid model, and nothing else."""
    with provider(answer_of(MAX_TOKENS)) as url, stand() as made:
        deployed = Deployed(made, url)
        paid = ApprenticeGateway(deployed)
        return run_cpu.measure(deployed, paid.door(max_tokens=MAX_TOKENS), who=paid.who)


def _works(gateway: Gateway, door: Door) -> Iterator[Work]:
    # As many processes as there will be use for, each of which begins by importing.
    ask(door, 2, at_once=1)
    ask(door, REQUESTS // 4, at_once=max(AT_ONCE))
    for at_once in AT_ONCE:
        yield work(gateway, door, REQUESTS, at_once=at_once)


def _say(what: str) -> None:
    print(f"... gateways: {what}", file=sys.stderr, flush=True)
