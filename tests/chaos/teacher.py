"""The paid model of the apprentice: the fake of a provider, which bills each case by its own."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.chaos.student import case_in, intent_of
from tests.providers.answers import Ask, Reply
from tests.providers.server import FakeServer, serve
from tests.providers.state import World

MODEL = "gpt-5-mini"
PRICES = {MODEL: {"inputUsd": "0.25", "cachedInputUsd": "0.025", "outputUsd": "2"}}
KEY = "sk-chaos-apprentice-0000000000000000000"

TRAPS = (
    {"name": "chat_429", "probability": 0.08, "times": None, "params": {"retry_after": 1}},
    {"name": "chat_500", "probability": 0.05, "times": None},
    {"name": "chat_answer_lost", "probability": 0.06, "times": None},
    {"name": "chat_slow", "probability": 0.1, "times": None, "params": {"seconds": 2}},
    {"name": "no_usage", "probability": 0.05, "times": None},
    # Some of the account's calls cost twice as much, whatever tier they name.
    {"name": "dearer_tier", "probability": 0.1, "times": None, "params": {"insists": 1}},
)
STALLED = {"name": "chat_answer_lost", "times": 4, "after": 20, "params": {"stall_seconds": 12}}
TRAPPED = frozenset(str(one["name"]) for one in (STALLED, *TRAPS))
"""Names of all that may become of a call."""


@dataclass
class Teacher:
    """A running fake.

    Attributes:
        asked: cases in the order in which they were executed, as the bill has them.
    """

    fake: FakeServer
    asked: list[str] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        """Where a connection finds it."""
        return f"{self.fake.base_url}/v1"

    def arm(self) -> None:
        """Set all traps."""
        for trap in (STALLED, *TRAPS):
            fields = dict(trap)
            with self.fake.world.lock:
                self.fake.world.traps.arm(str(fields.pop("name")), **fields)

    def disarm(self) -> None:
        """Take the traps away."""
        with self.fake.world.lock:
            self.fake.world.traps.disarm()

    @property
    def struck(self) -> Counter[str]:
        """Return how often each trap struck."""
        with self.fake.world.lock:
            return Counter(one.trap for one in self.fake.world.traps.firings)

    def billed(self) -> int:
        """Return the bill until now, in nano-USD."""
        with self.fake.world.lock:
            return sum(one.cost_nano_usd for one in self.fake.world.executions)

    def billed_by_case(self) -> dict[str, list[int]]:
        """Return what each execution of a case cost."""
        found: dict[str, list[int]] = {}
        with self.fake.world.lock:
            executions = self.fake.world.executions
            assert len(executions) == len(self.asked)
            for case, execution in zip(self.asked, executions, strict=True):
                found.setdefault(case, []).append(execution.cost_nano_usd)
        return found

    def _answer(self, ask: Ask) -> Reply:
        case = case_in(ask.prompt)
        self.asked.append(case)
        return Reply(f'{{"intent": "{intent_of(case)}"}}', has_token=False)


@contextmanager
def teaching(seed: int) -> Iterator[Teacher]:
    """Serve it for as long as the context lasts."""
    with serve(World(seed=seed)) as fake:
        teacher = Teacher(fake)
        fake.world.answers.answerer = teacher._answer
        fake.world.keys["*"][KEY] = "main"
        yield teacher
