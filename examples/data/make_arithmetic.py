"""Write ``arithmetic.jsonl``: word problems answered by four made-up models of differing skill.

The output is the same on every machine::

    python examples/data/make_arithmetic.py > examples/data/arithmetic.jsonl
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SEED = 20_261_121
PROBLEMS = 50

NAMES = ("Ada", "Bo", "Chen", "Dina", "Emre", "Freya", "Goran", "Hana", "Idris", "Jun")
GOODS = ("pears", "stickers", "marbles", "postcards", "seedlings", "buttons")


@dataclass(frozen=True)
class Step:
    """One line of a solution: ``left operator right`` is what ``subject`` comes to."""

    subject: str
    left: int
    operator: str
    right: int

    def result(self) -> int:
        """Return the step's exact result."""
        return {
            "+": self.left + self.right,
            "-": self.left - self.right,
            "*": self.left * self.right,
        }[self.operator]


@dataclass(frozen=True)
class Problem:
    """A prompt and the two steps to its answer; the second starts from the first's result."""

    prompt: str
    first: Step
    second_subject: str
    second_operator: str
    second_right: int

    def second(self, carried: int) -> Step:
        """Return the last step, given what the first came to."""
        return Step(self.second_subject, carried, self.second_operator, self.second_right)

    def answer(self) -> int:
        """Return the reference."""
        return self.second(self.first.result()).result()


@dataclass(frozen=True)
class Model:
    """A made-up model: how often it is right, and how it ends a response."""

    name: str
    accuracy: float
    ending: str


MODELS = (
    Model("finch-1b", 0.30, "So it is {answer} in all."),
    Model("heron-3b", 0.55, "#### {answer}"),
    Model("crane-8b", 0.75, "A: {answer}"),
    Model("condor-70b", 0.95, "The answer is {answer}."),
)


def market(draw: random.Random) -> Problem:
    """Bags of goods, and some more or fewer."""
    name, good = draw.choice(NAMES), draw.choice(GOODS)
    bags, each, lost = draw.randint(3, 12), draw.randint(4, 15), draw.randint(2, 11)
    return Problem(
        prompt=f"{name} buys {bags} bags with {each} {good} each and gives {lost} {good} away. "
        f"How many {good} are left?",
        first=Step(f"The bags hold {{}} {good}", bags, "*", each),
        second_subject=f"After the gift {{}} {good} are left",
        second_operator="-",
        second_right=lost,
    )


def savings(draw: random.Random) -> Problem:
    """Weekly savings on top of what was there."""
    name = draw.choice(NAMES)
    weeks, weekly, start = draw.randint(4, 20), draw.randint(5, 40), draw.randint(20, 400)
    return Problem(
        prompt=f"{name} has ${start} and saves ${weekly} a week for {weeks} weeks. "
        "How many dollars is that in the end?",
        first=Step("The weeks bring ${}", weeks, "*", weekly),
        second_subject="Together with the start that is ${}",
        second_operator="+",
        second_right=start,
    )


def travel(draw: random.Random) -> Problem:
    """Two legs of a journey, there and back."""
    name = draw.choice(NAMES)
    morning, afternoon = draw.randint(12, 90), draw.randint(12, 90)
    days = draw.randint(2, 6)
    return Problem(
        prompt=f"{name} cycles {morning} km in the morning and {afternoon} km in the afternoon. "
        f"How many kilometres is that in {days} such days?",
        first=Step("One day has {} km", morning, "+", afternoon),
        second_subject="All days have {} km",
        second_operator="*",
        second_right=days,
    )


def seats(draw: random.Random) -> Problem:
    """Rows of seats, some taken."""
    rows, each = draw.randint(8, 30), draw.randint(10, 40)
    taken = draw.randint(20, 79)
    return Problem(
        prompt=f"A hall has {rows} rows of {each} seats, and {taken} seats are taken. "
        "How many are free?",
        first=Step("The hall has {} seats", rows, "*", each),
        second_subject="Free are {} seats",
        second_operator="-",
        second_right=taken,
    )


KINDS: tuple[Callable[[random.Random], Problem], ...] = (market, savings, travel, seats)


def completions() -> Iterator[dict[str, Any]]:
    """Yield every completion in wire form, the four models' responses to a problem together."""
    draw = random.Random(SEED)  # noqa: S311 - the same numbers every time, not secret ones
    for number in range(PROBLEMS):
        problem = KINDS[number % len(KINDS)](draw)
        for model in MODELS:
            response, is_correct = respond(model, problem, draw)
            yield {
                "prompt": problem.prompt,
                "response": response,
                "modelId": model.name,
                "metadata": {"answer": str(problem.answer()), "isCorrect": is_correct},
            }


def respond(model: Model, problem: Problem, draw: random.Random) -> tuple[str, bool]:
    """Return the model's response and whether its last number is the reference."""
    is_correct = draw.random() < model.accuracy
    slips_first = draw.random() < 0.5
    slip = draw.choice((-20, -10, -2, -1, 1, 2, 10, 20))
    first = problem.first.result() + (slip if slips_first and not is_correct else 0)
    second = problem.second(first)
    answer = second.result() + (0 if slips_first or is_correct else slip)
    lines = [
        written(problem.first, first),
        written(second, answer),
        model.ending.format(answer=f"{answer:,}"),
    ]
    return "\n".join(lines), is_correct


def written(step: Step, result: int) -> str:
    """Return a step as a sentence in which the model's own, perhaps wrong, result stands."""
    equation = f"{step.left} {step.operator} {step.right} = {result}"
    return f"{step.subject.format(result)}, because {equation}."


def main() -> None:
    """Write one completion a line to standard output."""
    for completion in completions():
        sys.stdout.write(json.dumps(completion, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
