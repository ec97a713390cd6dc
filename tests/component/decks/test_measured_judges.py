"""From a deck to its κ and a better rubric, by a judge whose fault is known."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

from tests.judges.measuring import MeasuredDeck, Rated, Shown
from tests.judges.models import PLANTED_MODEL, serve_planted, serve_sick
from tests.judges.planted import Planted, verdict
from tests.judges.planted_samples import CURED, RUBRIC, SYSTEM_PROMPT, labelled, samples
from tests.judges.sick import LEVELS_ALL_THE_SAME, OF_THE_PROVIDER, OTHER_MODEL, SYMPTOMS
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import Ledger, later

COUNT = 80
PRICES = {PLANTED_MODEL: {"inputUsd": "0.1", "outputUsd": "0.4"}}


class InProcess:
    """The API in this process, and steps of what works behind it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._states: dict[tuple[str, int], dict[str, Any]] = {}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        plain, _, query = path.partition("?")
        sent = {"raw": body} if isinstance(body, bytes) else {"body": body}
        answer = self._ledger.platform.call(
            method, f"/api/v1{plain}", query=dict(parse_qsl(query)), **sent
        )
        assert answer.status < 300, answer.text
        return answer.json

    def let_it_work(self) -> None:
        """Goes on with every run by a step, and has models asked a minute later."""
        for started in inputs_of("work_deck_run").values():
            if "run_id" not in started:
                continue  # what a model proposes goes on when it is read, too
            self._states.setdefault((started["run_id"], started["redrive"]), started)
        passed = timedelta(seconds=self._ledger.passed)
        with later(passed):
            for key, state in self._states.items():
                if not state.get("done"):
                    work = handler("functions.decks.advance_deck_run")
                    self._states[key] = work(state, LambdaContext(300))
        self._ledger.passed += 61
        with later(timedelta(seconds=self._ledger.passed)):
            self._ledger.sweep()
            self._ledger.run()


def measured(ledger: Ledger) -> MeasuredDeck:
    return MeasuredDeck(
        InProcess(ledger),
        system_prompt=SYSTEM_PROMPT,
        connection_id=ledger.connect(maxWaitSeconds=0, prices=PRICES),
        model=PLANTED_MODEL,
    )


def test_a_clause_raises_agreement_as_it_is_known_to(ledger: Ledger) -> None:
    planted = serve_planted(ledger.fake.world)
    deck = measured(ledger)
    shown = list(samples(COUNT, seed=31))
    ids = deck.add_samples(Shown(one.text.input, one.text.output) for one in shown)
    grader_id = deck.add_grader("help", RUBRIC)
    people = [labelled(one, "rater") for one in shown]
    deck.import_ratings(
        grader_id,
        (Rated(*one) for one in zip(ids, ["rater"] * COUNT, people, strict=True)),
    )
    found = []
    for number, rubric in enumerate((RUBRIC, CURED), start=1):
        if number > 1:
            assert deck.add_version(grader_id, rubric) == number
        run = deck.grade([grader_id], steps=25)
        levels = [verdict(rubric, one.text, planted.planted) for one in shown]
        assert run["counts"]["scored"] == sum(level is not None for level in levels)
        assert run["counts"]["abstained"] == levels.count(None)
        agreement = deck.agreement(grader_id, number)
        pairs = [pair for pair in zip(levels, people, strict=True) if None not in pair]
        assert agreement["n"] == len(pairs)
        off = sum(judged - said for judged, said in pairs) / len(pairs)
        assert abs(agreement["meanBias"]["value"] - off) < 1e-9
        found.append(agreement["kappa"])
    assert found[0]["value"] < 0.65 < found[1]["low"]
    assert ledger.fake.world.bill()["executions"] == 2 * COUNT


def test_no_ailment_of_a_judge_becomes_a_level(ledger: Ledger) -> None:
    sick = serve_sick(ledger.fake.world, Planted(noise=0))
    deck = measured(ledger)
    one = next(one for one in samples(50, seed=32) if one.level == 1)
    names = sorted(SYMPTOMS)
    # Each for ever, and each healed by the repair.
    ever = [f"[[sick:{name}]]" for name in names if name not in OF_THE_PROVIDER]
    marks = [*ever, *(f"[[sick:{name}*1]]" for name in names)]
    ids = deck.add_samples(Shown(one.text.input, f"{one.text.output} {mark}") for mark in marks)
    grader_id = deck.add_grader("help", CURED)
    run = deck.grade([grader_id], steps=25)
    results = {result["sampleId"]: result for result in deck.results(grader_id)}
    for id_, mark in zip(ids, marks, strict=True):
        found, name = results[id_], mark[len("[[sick:") : -2]
        healed = name.endswith("*1") or name in LEVELS_ALL_THE_SAME
        assert found["status"] == ("scored" if healed else "failed"), mark
        assert found["score"] == (1 if healed else None), mark
        refused = "model_refused" if name == "refusal" else "model_answer_unreadable"
        assert found["reason"] == (None if healed else refused), mark
        other = name.startswith("other_model")
        assert found["answeredModel"] == (OTHER_MODEL if other else PLANTED_MODEL), mark
    # One repair each, and no third question.
    assert sick.struck == {
        name: 1 if name in OF_THE_PROVIDER else 2 if name in LEVELS_ALL_THE_SAME else 3
        for name in names
    }
    counts = run["counts"]
    assert counts["scored"] + counts["failed"] == counts["expected"] == len(marks)
    assert run["costNanoUsd"] >= ledger.fake.world.bill()["total_nano_usd"]
