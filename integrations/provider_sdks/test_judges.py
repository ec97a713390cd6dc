"""The openai package, unchanged, asks the fakes of judges, which run as processes of their own."""

import json
import os
import re

import openai
import pytest

from integrations.fakes import serving
from tests.judges.planted import Planted, verdict
from tests.judges.planted_samples import CURED, SYSTEM_PROMPT, samples
from tests.judges.replay import FOLDER_VARIABLE
from tests.judges.summaries import Rating, Summaries, level
from tests.judges.summary_rubrics import rubric_of
from tests.judges.writing import judge_messages, proposal_messages

SAMPLES = [one.text for one in samples(20, seed=4)]


def client_of(fake):
    return openai.OpenAI(base_url=f"{fake.url}/served/v1", api_key="fake-key", max_retries=0)


def ask(fake, messages, model="planted-judge", **fields):
    return client_of(fake).chat.completions.create(
        model=model, messages=messages, max_tokens=2_000, **fields
    )


def level_of(completion):
    (said,) = re.findall(r"^VERDICT: (\S+)$", completion.choices[0].message.content, re.MULTILINE)
    return None if said == "NOT_APPLICABLE" else int(said)


def test_the_planted_judge_and_its_proposer():
    with serving("planted", module="tests.judges") as fake:
        judge = Planted(seed=3)
        for sample in SAMPLES:
            said = ask(fake, judge_messages(CURED, sample))
            assert level_of(said) == verdict(CURED, sample, judge)
        bill = fake.call("GET", "/bill")
        assert bill["executions"] == len(SAMPLES)
        form = {
            "type": "json_schema",
            "json_schema": {
                "name": "proposal",
                "schema": {"type": "object", "properties": {"graders": {"type": "array"}}},
            },
        }
        messages = proposal_messages("graders", [("instructions", SYSTEM_PROMPT)])
        proposed = ask(fake, messages, "planted-proposer", response_format=form)
        graders = json.loads(proposed.choices[0].message.content)["graders"]
        assert all(quote in SYSTEM_PROMPT for one in graders for quote in one["promptQuotes"])
        with pytest.raises(openai.BadRequestError):
            ask(fake, [{"role": "user", "content": "Hello?"}])


def test_the_sick_judge():
    with serving("sick", module="tests.judges") as fake:
        messages = judge_messages(CURED, SAMPLES[0])

        def ill(name):
            fake.call("POST", "/ailments", {"name": name, "times": 1})
            return ask(fake, messages)

        assert ill("half_score").choices[0].message.content.endswith("VERDICT: 1.5")
        assert ill("truncated").choices[0].finish_reason == "length"
        assert ill("refusal").choices[0].finish_reason == "content_filter"
        assert ill("no_usage").usage is None
        assert ill("other_model").model == "another-model-2026"
        with pytest.raises(openai.RateLimitError) as limited:
            ill("rate_limited")
        assert limited.value.response.headers["retry-after"] == "1"
        level_of(ask(fake, messages))


@pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason=f"{FOLDER_VARIABLE} names no folder")
def test_the_replay_of_real_replies():
    folder = os.environ[FOLDER_VARIABLE]
    rating = Rating("relevance", "rts")
    summaries = Summaries(folder)
    replies = summaries.replies["gpt-3.5-turbo-0301", rating.criterion, rating.prompt]
    with serving("replay", "--data", folder, module="tests.judges") as fake:
        for one in list(summaries.samples.values())[:20]:
            said = ask(fake, judge_messages(rubric_of(rating), one.text), "gpt-3.5-turbo-0301")
            assert level_of(said) == level(replies[one.id], rating)
        with pytest.raises(openai.NotFoundError):
            ask(fake, judge_messages(CURED, one.text), "gpt-3.5-turbo-0301")
