"""Write made-up replies of a support desk, and what a person says of each.

The output is the same on every machine::

    python examples/decks/make_support.py samples > examples/decks/support_samples.jsonl
    python examples/decks/make_support.py labels --ids ids.txt > labels.jsonl

A sample has its id once it is added: the file has the ids that ``autotune decks samples add``
prints, one a line, in the samples' order.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SEED = 20_261_125
SAMPLES = 160

SHOPS = ("Birch & Bolt", "Lamp Lane", "The Tea Shelf")
MODELS = ("small-1", "large-1")
PROBLEMS = (
    (
        "My parcel has not come",
        ("Open the tracking page", "Compare the address", "Ask a neighbour"),
    ),
    ("The lamp does not light", ("Check the bulb", "Press the switch twice", "Try another socket")),
    (
        "I was charged twice",
        ("Open the two receipts", "Compare their numbers", "Note the later one"),
    ),
    ("The tea tastes of soap", ("Rinse the pot", "Boil fresh water", "Open another bag")),
    ("I cannot sign in", ("Open the sign-in page", "Choose a new password", "Close other tabs")),
)
MORE_STEPS = (
    "Keep the box until then",
    "Take a photo of it",
    "Write the order number down",
    "Attach both to your answer",
)
OPENINGS = ("We have read your mail.", "This happens now and then.", "Let us look at it.")
COURTESIES = (
    "Thank you so much for your patience!",
    "We are so sorry about this!",
    "We apologize from the heart!",
)
LOWEST = -3


def samples() -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each sample with the level that a person gives it."""
    drawn = random.Random(SEED)  # noqa: S311 - the same samples on every machine
    for number in range(SAMPLES):
        problem, first_steps = drawn.choice(PROBLEMS)
        shop, model = drawn.choice(SHOPS), drawn.choice(MODELS)
        count = drawn.choice((0, 1, 1, 2, 3, 3, 4, 5, 6) if model == "large-1" else (0, 0, 1, 2, 4))
        steps = [*first_steps, *drawn.sample(MORE_STEPS, len(MORE_STEPS))][:count]
        lines = [drawn.choice(OPENINGS)]
        if drawn.random() < (0.6 if model == "small-1" else 0.3):
            lines.append(drawn.choice(COURTESIES))
        lines += [f"{place}. {step}." for place, step in enumerate(steps, start=1)]
        lines.append(f"Your case is number {1_000 + number}.")
        prompt = (
            f"You answer customers of {shop} by mail. Help them to solve the problem by themselves."
        )
        sample = {
            "request": {
                "model": model,
                "messages": [
                    {"role": "system", "content": prompt},
                    {
                        "role": "user",
                        "content": f"{problem}, order {4_000 + 7 * number}. What now?",
                    },
                ],
            },
            "response": {
                "model": model,
                "choices": [{"message": {"role": "assistant", "content": "\n".join(lines)}}],
            },
            "model": model,
        }
        yield sample, len(steps) + LOWEST


def labels(ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what a person says of each sample."""
    for sample_id, (_, score) in zip(ids, samples(), strict=True):
        yield {"sampleId": sample_id, "rater": "kim", "score": score, "selection": "random"}


def main() -> None:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("samples", "labels"))
    parser.add_argument("--ids", type=Path, help="a file with an id a line, in the samples' order")
    options = parser.parse_args()
    if options.what == "samples":
        documents = (sample for sample, _ in samples())
    elif options.ids is None:
        parser.error("labels: give --ids")
    else:
        documents = labels(options.ids.read_text("utf-8").split())
    for document in documents:
        sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
