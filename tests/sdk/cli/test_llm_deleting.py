"""Texts are deleted by filter, from the command line and from Python."""

import pytest

from autotune import AutotuneClient
from autotune.cli import exit_codes
from autotune.client import InvalidInputError


@pytest.fixture
def ids(ledger, run, write_jsonl, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    ledger.ends = lambda _: {"status": "completed", "rawOutput": "Well."}
    path = write_jsonl([{"user": f"q{number}"} for number in range(5)])
    options = ("--connection", ledger.new_connection(), "--model", "m", "--max-tokens", 8)
    return run("llm", "enqueue", path, *options, "--purpose", "scoring").stdout.split()


def test_the_command_deletes_what_matches(ledger, run, ids):
    ran = run("llm", "delete-content-matching", "--purpose", "scoring")
    assert (ran.exit_code, sorted(ran.stdout.split())) == (0, sorted(ids))
    assert "texts of 5 deleted" in ran.stderr
    assert all("rawOutput" not in ledger.rows[one] for one in ids)
    refused = run("llm", "delete-content-matching")
    assert (refused.exit_code, "--all" in refused.stderr) == (exit_codes.USAGE, True)


def test_the_client_deletes_page_by_page(ledger, ids):
    pages = []
    with AutotuneClient(base_url=ledger.base_url, api_key=ledger.api_key) as client:
        count = client.llm.delete_content_matching(status="completed", on_page=pages.append)
        with pytest.raises(InvalidInputError):
            client.llm.delete_content_matching(status="gone")
    assert (count, sorted(one for page in pages for one in page)) == (5, sorted(ids))
    assert len(pages) >= 3
    assert all("rawOutput" not in ledger.rows[one] for one in ids)
