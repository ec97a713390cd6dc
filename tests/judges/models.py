"""The fakes as models of a fake of providers: what a test, a stack or a process of its own serves.

Each takes a world of `tests.providers` and answers for it:

    with serve(World(seed=1)) as fake:
        judge = serve_planted(fake.world)
        ...
        judge.planted = replace(judge.planted, drift=1)

Its models are there for every provider, so that one base URL is a vLLM server, OpenAI or another.
"""

from dataclasses import asdict, fields, replace
from typing import Any

from tests.judges.layout import judge_prompt
from tests.judges.planted import Planted, answer
from tests.judges.proposer import Proposer
from tests.judges.sick import Sick
from tests.providers.answers import Ask, Reply
from tests.providers.state import World
from tests.providers.wire import ProviderError, Request

PLANTED_MODEL = "planted-judge"
PROPOSING_MODEL = "planted-proposer"
USD_PER_MILLION = (0.1, 0.05, 0.4)


class PlantedModel:
    """The planted judge and its proposer, as one model; other prompts are refused.

    Attributes:
        served_model: What an answer says that its model is; None for what was asked for.
    """

    def __init__(self, planted: Planted | None = None) -> None:
        self.planted = planted or Planted()
        self.proposer = Proposer()
        self.served_model: str | None = None

    def __call__(self, ask: Ask) -> Reply:
        """Answers one prompt.

        Raises:
            ProviderError: If it is neither a judge's nor one that wants something proposed.
        """
        prompt = judge_prompt(ask)
        if prompt is not None and ask.json_schema is None:
            return Reply(answer(prompt, self.planted), served_model=self.served_model)
        proposed = self.proposer(ask)
        if proposed is None:
            message = "This model reads prompts of judges of levels and of proposers only."
            raise ProviderError(400, "invalid", message)
        return replace(proposed, served_model=self.served_model)

    def serve(self, world: World) -> None:
        """Answers for a world, and adds the routes that change what the model is like."""
        add_models(world, PLANTED_MODEL, PROPOSING_MODEL)
        world.answers.answerer = self
        world.more_controls[("POST", "/judge")] = self._set
        self.proposer.serve(world)

    def _set(self, world: World, request: Request) -> Any:
        """Changes it: ``{"noise": 0.4, "drift": 1, "seed": 2, "served_model": "planted-2"}``."""
        document = request.document()
        if "served_model" in document:
            self.served_model = document.pop("served_model")
        known = {one.name for one in fields(Planted)}
        if unknown := set(document) - known:
            raise ValueError(f"{sorted(unknown)} are none of {sorted(known)}")
        self.planted = replace(self.planted, **document)
        return {**asdict(self.planted), "served_model": self.served_model}


def serve_planted(world: World, planted: Planted | None = None) -> PlantedModel:
    """Lets a world answer as the planted judge and its proposer."""
    model = PlantedModel(planted)
    model.serve(world)
    return model


def serve_sick(world: World, planted: Planted | None = None) -> Sick:
    """Lets a world answer as the planted judge, sick on demand."""
    sick = Sick(serve_planted(world, planted))
    sick.serve(world)
    return sick


def add_models(world: World, *names: str) -> None:
    """Adds models at `USD_PER_MILLION` for every provider."""
    for provider in list(world.prices.models):
        for name in names:
            world.prices.add(provider, name, USD_PER_MILLION)
