"""Customers of a bank: so many messages are sent to the task ``bank_intent``, some at a time.

``python examples/bank_messages.py 450 --seed 1`` prints who answered them.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

from autotune import AutotuneClient

TASK = "bank_intent"
_ASKED = (
    "my card was stolen {when}",
    "I lost my card {where} {when}",
    "please block the card that I used {where}",
    "how many euros do I get {where}",
    "what is the rate for pounds {when}",
    "what is my balance {when}",
    "how much is left for {whom}",
    "show my account {when}",
    "send {amount} to {whom}",
    "transfer {amount} to {whom} {when}",
    "I want to pay {whom} {amount}",
    "can I talk to somebody {when}",
    "nobody answers my letter about {whom}",
)
_FILLED = {
    "when": ("today", "yesterday", "now", "this week", "on Monday", "this morning", "at noon"),
    "where": ("in Lisbon", "at the station", "in a shop", "abroad", "at the airport", "at home"),
    "whom": ("Ada", "my landlord", "Boris", "the dentist", "my mother", "the tax office", "Chen"),
    "amount": ("20", "55", "120", "300", "1,000", "75", "640"),
}
_OPENINGS = ("", "hello, ", "hi, ", "excuse me, ", "good day, ", "quick question: ")
_ENDS = ("", "?", ".", " please", " thanks")


def messages(count: int, *, seed: int = 1) -> Iterator[str]:
    """Yield messages; the same seed has the same ones."""
    dice = Random(seed)  # noqa: S311 - made-up messages, no secrets
    for _ in range(count):
        filled = {name: dice.choice(words) for name, words in _FILLED.items()}
        asked = dice.choice(_ASKED).format(**filled)
        yield f"{dice.choice(_OPENINGS)}{asked}{dice.choice(_ENDS)}"


def send(client: AutotuneClient, count: int, *, seed: int = 1, at_once: int = 4) -> Counter[str]:
    """Have messages answered; return how many each of the two models answered."""

    def ask(text: str) -> str:
        run = client.apprentice.run(TASK, input={"text": text})
        routing = run.routing
        return run.state if routing is None or routing.answers is None else routing.answers

    with ThreadPoolExecutor(at_once) as pool:
        return Counter(pool.map(ask, messages(count, seed=seed)))


def main() -> None:
    """Send as many as are asked for, and say who answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with AutotuneClient() as client:
        for who, answered in send(client, options.count, seed=options.seed).items():
            sys.stdout.write(f"{who}: {answered}\n")


if __name__ == "__main__":
    main()
