"""Measures gateways side by side, each before a fake of the provider of its own."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.gateways.asking import Work, ask, work
from benchmarks.gateways.gateway import Gateway
from benchmarks.gateways.litellm_gateway import ENVIRONMENT, PACKAGE, litellm_gateway
from benchmarks.gateways.our_gateway import OurGateway
from benchmarks.gateways.storms import Storm, storms
from benchmarks.llm_provider import provider
from benchmarks.stand import stand
from integrations.environments import InstallationError

REQUESTS = 200
AT_ONCE = (1, 8)
MAX_TOKENS = 400
# Longer than any answer may be.
SAID = "word " * 5_000


@dataclass
class Measured:
    """What was measured, and why something was not."""

    works: list[Work] = field(default_factory=list)
    storms: list[Storm] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def measure() -> Measured:
    """Ask each gateway 200 times, one by one and eight at once, and storm its budgets."""
    measured = Measured()
    try:
        for is_strict in (False, True):
            _say(f"LiteLLM's proxy{', strict' if is_strict else ''}, which is installed first")
            with provider(SAID) as url, litellm_gateway(url, is_strict=is_strict) as theirs:
                if not is_strict:
                    measured.works += _works(theirs)
                measured.storms += storms(theirs, url)
    except InstallationError as error:
        measured.missing.append(f"{PACKAGE} {ENVIRONMENT.version_of(PACKAGE)}: {error}")
    with _ours() as (ours, url):
        _say(ours.name)
        measured.works += _works(ours)
        measured.storms += storms(ours, url)
    return measured


@contextmanager
def _ours() -> Iterator[tuple[OurGateway, str]]:
    with provider(SAID) as url, stand() as made:
        yield OurGateway(made, url), url


def _works(gateway: Gateway) -> Iterator[Work]:
    door = gateway.door()
    # As many processes as there will be use for, each of which begins by importing.
    ask(door, 2, at_once=1, max_tokens=MAX_TOKENS)
    ask(door, REQUESTS // 4, at_once=max(AT_ONCE), max_tokens=MAX_TOKENS)
    for at_once in AT_ONCE:
        yield work(gateway, door, REQUESTS, at_once=at_once, max_tokens=MAX_TOKENS)


def _say(what: str) -> None:
    print(f"... gateways: {what}", file=sys.stderr, flush=True)
