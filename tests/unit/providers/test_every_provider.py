"""Each trap of batches and rows at each provider: the fake stays whole, and its books too."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from tests.providers.catalogue import BATCH, CATALOGUE, CONTENT, ROW
from tests.unit.providers.conftest import ANTHROPIC, AWS, BEARER, GOOGLE, chat_body, jsonl
from tests.unit.providers.scenes import bedrock_job, openrouter
from tests.unit.providers.test_other_providers import anthropic_batch, gemini_batch

TOKEN = re.compile(r"tok-[0-9a-f]{20}")
TRAPS = [name for name, trap in CATALOGUE.items() if trap.level in (BATCH, ROW, CONTENT)]
# What a provider has no words for.
ABSENT = {
    "openai": {"inline_without_keys", "bedrock_partially_completed", "bedrock_several_outputs"},
    "anthropic": {"counts_absent", "output_id_empty", "inline_without_keys", "cancel_completes"},
    "gemini": {"output_id_empty"},
    "openrouter": {"counts_absent", "output_id_empty"},
    "bedrock": {"output_id_empty", "inline_without_keys"},
}
# What shows only when something else is done, which tests of its own do.
ELSEWHERE = {"custom_id_65", "old_key_only", "cancel_completes", "rows_foreign_id"}


def openai_texts(http, advance):
    form = {"data": {"purpose": "batch"}, "files": {"file": ("in.jsonl", jsonl(2))}}
    file_id = http.post("/v1/files", headers=BEARER, **form).json()["id"]
    body = {
        "input_file_id": file_id,
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
    }
    batch_id = http.post("/v1/batches", headers=BEARER, json=body).json()["id"]
    batch = ended(http, advance, "/v1/batches", batch_id, BEARER)
    for name in ("output_file_id", "error_file_id"):
        if batch[name]:
            yield http.get(f"/v1/files/{batch[name]}/content", headers=BEARER)


def anthropic_texts(http, advance):
    created = anthropic_batch(http).json()
    if "id" in created:
        batch = ended(http, advance, "/v1/messages/batches", created["id"], ANTHROPIC)
        if batch["results_url"]:
            yield http.get(batch["results_url"], headers=ANTHROPIC)


def gemini_texts(http, advance):
    created = gemini_batch(http).json()
    if "name" in created:
        name = created["name"].removeprefix("batches/")
        yield json.dumps(ended(http, advance, "/v1beta/batches", name, GOOGLE))


def openrouter_texts(http, advance):
    yield json.dumps(ended(http, advance, "/api/v1/batches", openrouter(http), BEARER))


def bedrock_texts(http, advance):
    arn = bedrock_job(http, "token1").json()["jobArn"].replace("/", "%2F")
    ended(http, advance, "/model-invocation-job", arn, AWS)
    for key in re.findall("<Key>(.*?)</Key>", http.get("/_s3/out-bucket").text):
        yield http.get(f"/_s3/out-bucket/{key}")


def ended(http, advance, base, batch_id, headers):
    """The batch after its end, however late that is, as its provider shows it."""
    listed = base + "s" if base.endswith("job") else base
    for seconds in (0, 0, 31, 60, 200, 100_000):
        advance(seconds)
        http.get(listed, headers=headers)
        found = http.get(f"{base}/{batch_id}", headers=headers)
    return found.raise_for_status().json()


def sensible(provider, name):
    """Whether a provider can have a trap, and this test shows it."""
    if name in ABSENT[provider] | ELSEWHERE:
        return False
    if provider in ("gemini", "openrouter", "bedrock") and CATALOGUE[name].level == CONTENT:
        return False
    return provider == "bedrock" or not name.startswith("bedrock")


PAIRS = [(provider, name) for provider in ABSENT for name in TRAPS if sensible(provider, name)]


@pytest.mark.parametrize(("provider", "name"), PAIRS)
def test_books_are_kept_whatever_goes_wrong(http, advance, arm, fired, provider, name):
    quick = {"stall_seconds": 0.05, "bytes": 1000}
    arm(name, provider=provider, params=quick)
    found = set()
    with suppress(httpx.HTTPError):  # some traps end connections, and 404 may be the last answer
        for text in globals()[f"{provider}_texts"](http, advance):
            found |= set(TOKEN.findall(text if isinstance(text, str) else text.text))
    assert fired().get(name), "it did not fire"
    executions = http.get("/_fake/executions").json()["executions"]
    assert found <= {one["token"] for one in executions}
    bill = http.get("/_fake/bill").json()
    assert bill["total_nano_usd"] == sum(one["cost_nano_usd"] for one in executions)
    assert len({one["token"] for one in executions}) == len(executions)


def test_tokens_are_unique_when_many_ask_at_once(http):
    def ask(number):
        body = chat_body(f"Question {number % 3}")
        answered = http.post("/v1/chat/completions", headers=BEARER, json=body)
        return TOKEN.search(answered.text)[0]

    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(ask, range(200)))
    assert len(set(tokens)) == 200
    executions = http.get("/_fake/executions").json()["executions"]
    assert {one["token"] for one in executions} == set(tokens)
    bill = http.get("/_fake/bill").json()
    assert bill["total_nano_usd"] == sum(one["cost_nano_usd"] for one in executions)
