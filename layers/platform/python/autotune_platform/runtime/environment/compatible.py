"""The environment of the function that answers chat completions."""

from autotune_platform.runtime.environment.apprentice_runs import RunStartEnvironment
from autotune_platform.runtime.environment.ledger import ConnectionEnvironment


class ChatEnvironment(RunStartEnvironment, ConnectionEnvironment):
    """For the function that answers chat completions; ``chat_functions`` are of its kind.

    Attributes:
        capture_queue_url: where calls go that may be captured.
    """

    decks_table: str
    capture_queue_url: str
    chat_functions: int | None = None
