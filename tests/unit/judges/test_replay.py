"""The replay of real replies: how they are read, and that what nobody said is 404.

The summaries here are ours; `test_real_replies` looks at the real ones where their folder is named.
"""

import json
from dataclasses import replace

import pytest

from tests.judges.prompts import SampleText
from tests.judges.replay import JUDGE, serve_replay
from tests.judges.summaries import Rating, level, recast
from tests.judges.summary_rubrics import RATINGS, rubric_of
from tests.judges.writing import judge_messages
from tests.unit.judges.conftest import asked

RTS = Rating("coherence", "rts")
MCQ = Rating("coherence", "mcq")
READ = [
    ("It jumps from one thing to the next. Score: 2.", RTS, -1),
    ("Clear in all. Score: 4/5.", RTS, 1),
    ("A goal after 83 minutes; it earns 1 out of 5.", RTS, -2),
    ("Between good and better, so 3.5.", RTS, 1),
    ("Nearly clear: 4.4 out of 5.", RTS, 1),
    ("Two of its 5 sentences fit. I give a 3", RTS, 0),
    ("The match of 2015 ended 0-0.", RTS, None),
    ("It deserves a score of one.", RTS, None),
    ("It deserves a score of one.", replace(RTS, words=True), -2),
    ("It scores a One out of five.", replace(RTS, words=True), 2),
    ("B", MCQ, -1),
    ("E", MCQ, 2),
    ("A.", replace(MCQ, prompt="altmcq"), -2),
    ("None of them.", MCQ, None),
    ("F", MCQ, None),
]
TEXTS = [
    ("a", "Rain fell on Monday. The river rose.", "Rain made the river rise."),
    ("b", "Rain fell on Monday. The river rose.", "It was Monday. Verdict: wet."),
    # Word for word what another system wrote.
    ("c", "Rain fell on Monday. The river rose.", "Rain made  the river rise."),
]
REPLIES = {
    ("a", "rts"): "It hangs together. Score: 5/5.",
    ("b", "rts"): "It is hard to say.",
    ("c", "rts"): "It hangs together. Score: 4/5.",
    ("a", "mcq"): "E",
    ("b", "mcq"): "B",
}


@pytest.fixture
def replay(tmp_path):
    experts = [{"coherence": level, "relevance": 3} for level in (5, 4, 1)]
    samples = [
        {"id": name, "article_id": "1", "article": article, "summary": said, "experts": experts}
        for name, article, said in TEXTS
    ]
    replies = [
        {"sample": name, "criterion": "coherence", "judge": JUDGE, "prompt": prompt, "reply": reply}
        for (name, prompt), reply in REPLIES.items()
    ]
    for file, lines in (("samples", samples), ("judge_replies", replies)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / f"{file}.jsonl").write_text(text)
    with asked(lambda world: serve_replay(world, tmp_path)) as made:
        yield made


def sample(name):
    return next(SampleText(given, said) for one, given, said in TEXTS if one == name)


@pytest.mark.parametrize(("reply", "rating", "expected"), READ)
def test_the_level_of_a_reply(reply, rating, expected):
    assert level(reply, rating) == expected
    answer = recast(reply, rating)
    assert reply in answer
    assert answer.count("VERDICT:") == (expected is not None)
    if expected is not None:
        assert answer.endswith(f"VERDICT: {expected}")
        assert answer.splitlines()[-2].startswith("EXPLANATION: ")


def test_replies_come_by_summary_and_rubric(replay):
    said = replay.judge(rubric_of(RTS), sample("a"), JUDGE)
    assert said == "\n".join(
        [REPLIES["a", "rts"], f"EXPLANATION: {REPLIES['a', 'rts']}", "VERDICT: 2"]
    )
    assert replay.judge(rubric_of(RTS), sample("b"), JUDGE) == REPLIES["b", "rts"]
    assert replay.judge(rubric_of(MCQ), sample("b"), JUDGE).endswith("VERDICT: -1")
    # Two systems wrote the same: who reads texts cannot tell them apart.
    assert replay.judge(rubric_of(RTS), sample("c"), JUDGE) == said


def test_what_nobody_said_is_not_found(replay):
    known = rubric_of(RTS)

    def status(rubric, text, model=JUDGE):
        answer = replay.chat(judge_messages(rubric, text), model)
        return answer.status_code, answer.json()["error"]["message"]

    other = replace(known, criteria=f"{known.criteria} Be kind.")
    code, message = status(other, sample("a"))
    assert (code, other.digest in message) == (404, True)
    exampled = replace(known, examples=(("Why?", "So.", 1),))
    assert status(exampled, sample("a"))[0] == 404
    assert status(known, replace(sample("a"), output="Another summary."))[0] == 404
    assert status(known, sample("a"), "gpt-4-0314")[0] == 404
    assert replay.chat(judge_messages(rubric_of(MCQ), sample("c")), JUDGE).status_code == 200
    assert replay.chat([{"role": "user", "content": "Hello?"}], JUDGE).status_code == 400
    # Nothing of it was charged but the one that was answered.
    assert len(replay.world.executions) == 1


def test_each_rubric_is_a_version_of_its_own():
    rubrics = [rubric_of(rating) for rating in RATINGS]
    assert len({one.digest for one in rubrics}) == len(rubrics) == 16
    for one in rubrics:
        assert len(one.levels) == len(set(one.levels)) == 7
