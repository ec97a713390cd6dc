"""Answers are parsed again."""

import pytest

from autotune import AutotuneClient
from autotune.client import ConflictError, InvalidInputError, InvalidRequestError
from tests.support.http_faults import Fault

ANSWER = "Well.\nVERDICT: good"
LABELS = {"type": "label", "labels": ["good", "bad"]}
TEXT = {"type": "text"}


@pytest.fixture
def api(ledger, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    ledger.ends = lambda _: {"status": "completed", "rawOutput": ANSWER}
    return ledger


@pytest.fixture
def client(api):
    with AutotuneClient(base_url=api.base_url, api_key=api.api_key) as made:
        yield made


@pytest.fixture
def enqueued(api, client):
    connection_id = api.new_connection()

    def enqueue(count=1, **fields):
        row = {
            "connectionId": connection_id,
            "purpose": "scoring",
            "model": "m",
            "input": {"user": "q"},
            "params": {"maxTokens": 8},
            **fields,
        }
        return list(client.llm.enqueue([row] * count).request_ids)

    return enqueue


def test_an_answer_is_parsed_in_a_format_and_all_parses_are_listed(client, enqueued):
    (request_id,) = enqueued(verdict=LABELS)
    parsed = client.llm.parse(request_id, verdict=TEXT)
    assert (parsed.version, parsed.parsed_verdict, parsed.verdict.type) == (2, "good", "text")
    assert client.llm.parse(request_id, verdict=TEXT).version == 2
    assert client.llm.parse(request_id).version == 3
    assert [one.verdict.type for one in client.llm.parses(request_id)] == ["label", "text", "label"]
    assert client.llm.get(request_id).parse_version == 3


def test_what_cannot_be_parsed_is_said_by_its_error(api, client, enqueued):
    (bare,) = enqueued()
    with pytest.raises(InvalidRequestError) as refused:
        client.llm.parse(bare)
    assert [one.field for one in refused.value.errors] == ["verdict"]
    before = len(api.received)
    with pytest.raises(InvalidInputError, match="labels"):
        client.llm.parse(bare, verdict={"type": "label"})
    assert len(api.received) == before
    api.rows[bare]["status"] = "queued"
    with pytest.raises(ConflictError):
        client.llm.parse(bare, verdict=TEXT)


def test_an_answer_that_is_lost_on_the_way_is_asked_for_again(api, client, enqueued):
    (request_id,) = enqueued(verdict=LABELS)
    api.misbehave(Fault(where="POST .*/parse", status=503))
    assert client.llm.parse(request_id, verdict=TEXT).version == 2
    assert len(client.llm.parses(request_id)) == 2


def test_many_are_parsed_by_filter_page_by_page(client, enqueued):
    wanted = enqueued(5, verdict=LABELS)
    enqueued(1, purpose="critic")
    pages = []
    count = client.llm.parse_matching(purpose="scoring", verdict=TEXT, on_page=pages.append)
    assert (count, sorted(one for page in pages for one in page)) == (5, sorted(wanted))
    assert len(pages) >= 3
    assert {client.llm.get(one).parse_version for one in wanted} == {2}
    with pytest.raises(InvalidInputError, match="verdict"):
        client.llm.parse_matching(purpose="scoring", verdict={"type": "json"})
