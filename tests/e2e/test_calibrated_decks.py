"""A calibrated deck scores on the running stack, until its judge is another model, and again."""

from collections.abc import Iterator
from itertools import groupby, islice

import pytest

from autotune import AutotuneClient
from autotune.protocol.completions import CompletionVerdict
from local.records import LocalProfile
from tests.e2e.conftest import CommandLine, until
from tests.e2e.due import make_due, sweep_ledger
from tests.judges.measuring import wire
from tests.judges.models import PLANTED_MODEL, PlantedModel, serve_planted
from tests.judges.planted import Planted
from tests.judges.planted_samples import CURED, SYSTEM_PROMPT, PlantedSample, samples
from tests.judges.prompts import LEVELS
from tests.providers.server import FakeServer, serve

OF_A_LEVEL, CHECKED = 8, 20
LABELLED = OF_A_LEVEL * len(LEVELS)
NEXT_MODEL = "planted-judge-2"


@pytest.fixture
def provider() -> Iterator[FakeServer]:
    with serve() as fake:
        fake.world.keys["compatible"] = {"fake-key": "main"}
        yield fake


@pytest.fixture
def judge(provider: FakeServer) -> PlantedModel:
    return serve_planted(provider.world, Planted(noise=0))


class Scoring:
    """A task of the stack, whose judge the ledger asks as soon as it is told to."""

    def __init__(self, client: AutotuneClient, profile: LocalProfile, cli: CommandLine) -> None:
        self.client = client
        self.profile = profile
        self.cli = cli
        self.task_id = ""

    def score(self, *shown: tuple[str, str]) -> list[CompletionVerdict]:
        """Submit completions; return their verdicts once all have one."""
        (batch,) = self.client.completions.submit_many(
            {"prompt": given, "response": said, "taskId": self.task_id, "modelId": "m"}
            for given, said in shown
        )
        rows = until(lambda: self._rows(batch.completion_ids), seconds=60)
        sweep_ledger(self.profile.aws_endpoint_url)
        self.client.llm.wait(rows, timeout=90)
        # MiniStack ignores the time-out of the wait (ADR 0016): the look is the sweeper's.
        make_due(self.profile.aws_endpoint_url, batch.batch_id)
        self.cli.run("ops", "sweep")
        return list(self.client.batches.wait(batch.batch_id, timeout=90).verdicts)

    def _rows(self, completion_ids: list[str]) -> list[str] | None:
        found = [
            one.id for id_ in completion_ids for one in self.client.llm.list(completion_id=id_)
        ]
        return found if len(found) == len(completion_ids) else None


def test_a_calibrated_deck_scores_until_its_model_changes_and_a_check_brings_it_back(
    client: AutotuneClient,
    profile: LocalProfile,
    command_line: CommandLine,
    provider: FakeServer,
    judge: PlantedModel,
) -> None:
    connection = client.llm.connections.create(
        name="planted",
        provider="simulated",
        base_url=f"{provider.base_url}/served/v1",
        api_key="fake-key",
        prices={
            name: {"input_usd": "0.1", "output_usd": "0.4"} for name in (PLANTED_MODEL, NEXT_MODEL)
        },
        min_rows=1,
        max_wait_seconds=0,
    )
    deck = client.decks.create(name="parcels", system_prompt=SYSTEM_PROMPT, holdout_share=1)
    shown = as_many_of_each_level()
    ids = [
        one.id
        for one in client.decks.samples.add(
            deck.id, [{"input": one.text.input, "output": one.text.output} for one in shown]
        )
    ]
    params = {"maxTokens": 2_000, "temperature": 0}
    grader = client.decks.graders.create(
        deck.id,
        name="help",
        rubric=wire(CURED),
        judge={"connectionId": connection.id, "model": PLANTED_MODEL, "params": params},
    )
    client.decks.graders.update(deck.id, grader.id, status="active")
    client.decks.labels.import_ratings(
        deck.id,
        grader.id,
        (
            {
                "sampleId": id_,
                "rater": "ada",
                "selection": "random",
                "score": level,
            }
            for id_, level in zip(ids, apart_on_every_second(shown), strict=True)
        ),
    )
    run = client.decks.runs.start(deck.id)
    assert client.decks.runs.wait_for(deck.id, run.id, timeout=120).counts.scored == LABELLED
    published = client.decks.graders.publish(deck.id, grader.id)
    assert published.calibration is not None
    assert (published.calibration.model, published.uncalibrated_because) == (PLANTED_MODEL, None)
    scoring = Scoring(client, profile, command_line)
    scoring.task_id = client.decks.create_task(deck.id, uncalibrated="refuse").id

    texts = [(one.text.input, one.text.output) for one in shown]
    before = scoring.score(*texts[:3])
    assert {one.state for one in before} == {"scored"}

    judge.served_model = NEXT_MODEL
    (late,) = scoring.score(texts[3])
    assert (late.state, late.reason_code) == ("abstained", "uncalibrated_model")
    explained = client.completions.explain(late.completion_id)
    assert explained.verdict.reason_code == "uncalibrated_model"
    assert "uncalibrated_model" in command_line.run("explain", late.completion_id).stdout
    assert "calibrated for planted-judge" in _note(command_line, deck.id, grader.id)

    run = client.decks.runs.start(deck.id, repeat=True)
    assert client.decks.runs.wait_for(deck.id, run.id, timeout=120).counts.scored == CHECKED
    assert f"calibrated for {NEXT_MODEL}" in _note(command_line, deck.id, grader.id)
    shown_by_cli = command_line.run("decks", "agreement", deck.id, grader.id).stdout
    assert f"version 1, the current one, as {published.published.grader_id}" in shown_by_cli
    (back,) = scoring.score(texts[4])
    assert back.state == "scored"
    client.llm.connections.revoke(connection.id)


def as_many_of_each_level() -> list[PlantedSample]:
    """Return samples of which any twenty differ: which of them make the check is drawn."""
    made = sorted(samples(LABELLED * 5, seed=51, not_applicable=0), key=_level)
    return [one for _, of_level in groupby(made, _level) for one in islice(of_level, OF_A_LEVEL)]


def apart_on_every_second(shown: list[PlantedSample]) -> Iterator[int]:
    """Yield what a person says: what a sample deserves, or one level nearer to the middle.

    Where judge and person agree on all but one of the drawn, there is no interval, and so no
    calibration: of any twenty they are apart on several.
    """
    for place, one in enumerate(shown):
        level = _level(one)
        nearer = 1 if level < 0 else -1
        yield level + (nearer if place % 2 == 0 else 0)


def _level(sample: PlantedSample) -> int:
    assert sample.level is not None, "the rubric applies to each of them"
    return sample.level


def _note(command_line: CommandLine, deck_id: str, grader_id: str) -> str:
    """What publishing says of the calibration."""
    return command_line.run("decks", "graders", "publish", deck_id, grader_id).stderr
