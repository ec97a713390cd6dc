"""Decks with something of everything that the console shows of them."""

import json
from dataclasses import dataclass
from random import Random

from tests.providers.answers import Ask
from tests.support.deck_labels import LabelledDeck
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.decks import LEVELS, RUBRIC, new_samples
from tests.support.ledger import MODEL, Ledger
from tests.support.platform import Platform

_SAMPLES = 160


@dataclass
class FilledDecks:
    """What there is.

    Attributes:
        labelled: a deck whose grader has two versions, of which the second is measured.
        runs: a deck with a run that ended, and a grader that is only proposed.
        run_id: that run.
        proposed_id: that grader.
        sample_id: a sample of that deck, which was judged.
        unmatched_id: a prompt that no deck has.
    """

    labelled: LabelledDeck
    runs: DeckRuns
    run_id: str
    proposed_id: str
    sample_id: str
    unmatched_id: str


def unmatched_prompt(platform: Platform, prompt: str, *inputs: str) -> str:
    """Have calls come whose prompt no deck has; return the prompt's id."""
    lines = [
        json.dumps(
            {
                "request": {
                    "messages": [
                        {"role": "system", "content": prompt},
                        {"role": "user", "content": text},
                    ]
                },
                "response": {
                    "choices": [{"message": {"role": "assistant", "content": f"About {text}."}}]
                },
            }
        )
        for text in inputs
    ]
    answer = platform.call("POST", "/api/v1/samples", raw="\n".join(lines).encode())
    assert answer.status in {200, 201}, answer.text
    unmatched_id: str = answer.json["unmatched"][0]["unmatchedId"]
    return unmatched_id


def labelled_deck(platform: Platform, judge: object, *, samples: int = _SAMPLES) -> LabelledDeck:
    """Make a deck that two people have labelled, and a judge that is too kind to some samples."""
    deck = LabelledDeck(platform, samples=samples, name="librarian")
    levels = [*LEVELS[:6], "It has all that matters, in no more words than that takes."]
    body = {"rubric": {**RUBRIC, "levels": levels}, "judge": judge, "note": "say it shorter"}
    for method, path, sent in (
        ("POST", f"{deck.path}/versions", body),
        ("PATCH", deck.path, {"status": "active"}),
    ):
        answer = platform.call(method, path, sent)
        assert answer.status in {200, 201}, answer.text
    chance = Random(7)
    truth = {id_: chance.choice([-3, -2, -1, 0, 1, 2, 3]) for id_ in deck.samples}
    deck.label(truth, explanation="as I read it")
    shared = dict(list(truth.items())[::8])
    deck.label(
        {id_: min(3, level + chance.choice([0, 0, 1])) for id_, level in shared.items()}, "ben"
    )
    said = {
        id_: None if chance.random() < 0.05 else min(3, level + chance.choice([0, 0, 0, 1, 2]))
        for id_, level in truth.items()
    }
    deck.judged(said, version=2)
    patch = [{"field": "criteria", "find": "faithful", "replace": "true in every word"}]
    edit = {"patch": patch, "pattern": {"name": "too kind to what is left out"}}
    assert platform.call("POST", f"{deck.path}/edits", edit).status == 201
    return deck


def filled_decks(ledger: Ledger, *, samples: int = 60) -> FilledDecks:
    """Make a deck that is labelled and measured, and one whose samples a model has judged."""
    runs = DeckRuns(ledger, name="summaries", description="What readers of the news get.")
    judge = {"connectionId": runs.connection_id, "model": MODEL, "params": {"maxTokens": 200}}
    before = ledger.fake.world.answers.answerer
    runs.judging(_judge)
    runs.add_grader()
    sample_ids = runs.add_samples("The sky is blue.", "Nothing happened.", "A poem.", model="m-1")
    new_samples(ledger.platform, runs.deck_id, {"input": "x" * 400, "output": "y" * 900})
    run = runs.finish(runs.start(sampleIds=sample_ids))
    assert run["status"] == "completed", run
    ledger.fake.world.answers.answerer = before
    vague = ["bad", "bad", "", "ok", "fine", "good", "very good"]
    proposed = {"criteria": "Is it good?", "levels": [text or "poor" for text in vague]}
    proposed_id = runs.add_grader(active=False, name="clear", rubric=proposed)
    versions = f"{runs.path}/versions"
    changed = {"systemPrompt": "You summarise {{document}} for {{reader}}.\nBe very brief."}
    assert ledger.platform.call("POST", versions, changed).status == 201
    labelled = labelled_deck(ledger.platform, judge, samples=samples)
    unmatched_id = unmatched_prompt(
        ledger.platform, "You translate what people say.", "the weather", "the news"
    )
    return FilledDecks(labelled, runs, run["id"], proposed_id, sample_ids[0], unmatched_id)


def _judge(ask: Ask) -> str:
    if "poem" in ask.prompt:
        return verdict("NOT_APPLICABLE")
    return verdict(2 if "blue" in ask.prompt else -1)
