"""Environments of the functions of runs of decks."""

from autotune_platform.runtime.environment.decks import DeckEnvironment, SampleEnvironment
from autotune_platform.runtime.environment.ledger import LedgerApiEnvironment


class DeckRunEnvironment(SampleEnvironment, LedgerApiEnvironment):
    """For functions that go on with runs of decks, and those that start them."""


class DeckRunWorkEnvironment(DeckRunEnvironment):
    """For the function that goes on with runs; ``slow_functions`` are of its kind."""

    slow_functions: int | None = None


class DeckRunApiEnvironment(DeckRunEnvironment):
    """For the function that starts runs of decks, and shows what came of them."""

    work_deck_run_arn: str


class DeckRunSweepEnvironment(DeckEnvironment):
    """For the function that redrives runs of decks."""

    work_deck_run_arn: str
