"""What OpenAI names jobs and files is one part of an address, whatever it is."""

import socket
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.ledger.jobs.contract import Job, Results
from autotune_platform.ledger.jobs.openai import AzureJobs, OpenAiJobs
from autotune_platform.ledger.jobs.session import FetchError, Session
from autotune_platform.ledger.providers.azure import AzureFormat
from autotune_platform.ledger.providers.openai import OpenAiFormat
from autotune_platform.outbound.connections import connection_pool
from tests.unit.ledger.asking import KEY, connection
from tests.unit.ledger.test_gemini_jobs import Told

JOBS = OpenAiJobs(OpenAiFormat())
STRANGE = "../é ?a=b#c"
QUOTED = "..%2F%C3%A9%20%3Fa%3Db%23c"
NOTHING = (500, dict[str, str](), {})


def job(name: str) -> Job:
    return Job("lbt_1", "nonce1", "gpt-5-mini", 2, datetime(2026, 11, 22, tzinfo=UTC), name, name)


def fetched(jobs: OpenAiJobs, session: Session) -> Any:
    try:
        return list(jobs.fetch(session, job(STRANGE), Results(STRANGE)))
    except FetchError as error:
        return error.refusal


REQUESTS: dict[str, Callable[[OpenAiJobs, Session], Any]] = {
    "look": lambda jobs, session: jobs.look(session, job(STRANGE)),
    "cancel": lambda jobs, session: jobs.cancel(session, job(STRANGE)),
    "fetch": fetched,
    "clean": lambda jobs, session: jobs.clean(session, job(STRANGE), [Results(STRANGE)]),
}


@pytest.mark.parametrize("jobs", [JOBS, AzureJobs(AzureFormat())], ids=["openai", "azure"])
@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_strange_name_stops_no_step(jobs: OpenAiJobs, request_name: str) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        base_url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        exchanges = Exchanges(connection_pool(admit_private=True))
        session = Session(connection("openai", base_url=base_url), KEY, exchanges)
        came = REQUESTS[request_name](jobs, session)
    assert isinstance(came, Refusal)
    assert came.code == "provider_error"


def test_a_strange_name_is_quoted() -> None:
    told = Told(NOTHING, NOTHING, NOTHING)
    session = Session(connection("openai"), KEY, told)
    for name in ("look", "cancel", "clean"):
        REQUESTS[name](JOBS, session)
    base = "https://api.openai.com/v1"
    assert told.asked == [
        f"GET {base}/batches/{QUOTED}",
        f"POST {base}/batches/{QUOTED}/cancel",
        f"DELETE {base}/files/{QUOTED}",
    ]


def test_a_strange_cursor_is_quoted() -> None:
    told = Told((200, {}, {"data": [], "has_more": True, "last_id": STRANGE}), NOTHING)
    JOBS.search(Session(connection("openai"), KEY, told), job("batch_1"))
    assert told.asked[1] == f"GET https://api.openai.com/v1/batches?limit=100&after={QUOTED}"
