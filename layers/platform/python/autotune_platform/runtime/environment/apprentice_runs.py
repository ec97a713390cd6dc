"""Environments of the functions of the apprentice's runs and examples."""

from autotune_platform.runtime.environment.apprentice import ApprenticeEnvironment
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.ledger import ConnectionEnvironment, LedgerEnvironment


class RunStartEnvironment(LedgerEnvironment, ApprenticeEnvironment):
    """For functions that start runs.

    Attributes:
        run_queue_url: where ids of runs go that nobody waits for.
        work_runs_function: name of the function that works on those that somebody waits for.
    """

    run_queue_url: str
    work_runs_function: str


class ApprenticeRunApiEnvironment(RunStartEnvironment):
    """For the function that takes inputs of tasks.

    Attributes:
        waiting_runs: how many are waited for at once; None where nothing is bounded.
    """

    waiting_runs: int | None = None


class ApprenticeExampleEnvironment(LedgerEnvironment, ApprenticeEnvironment):
    """For the function that lists and imports examples."""


class LinearEnvironment(ApprenticeEnvironment):
    """For functions that ask versions of small models, linear ones too.

    Attributes:
        answer_linear_function: name of the function that hosts those.
        score_similarity_function: name of the one that compares answers by their meaning.
    """

    answer_linear_function: str
    score_similarity_function: str


class ApprenticeWorkEnvironment(LinearEnvironment, ConnectionEnvironment):
    """For the function that works on runs; it has some looked at again through their queue."""

    run_queue_url: str


class FoldingEnvironment(Environment):
    """For the functions that count runs of the apprentice.

    Attributes:
        run_queue_url: where ids of runs go whose answer is to be checked.
    """

    apprentice_table: str
    run_queue_url: str


class RunSweepEnvironment(FoldingEnvironment):
    """For the function that looks after lost runs, and goes on with deletions of tasks."""

    apprentice_bucket: str
