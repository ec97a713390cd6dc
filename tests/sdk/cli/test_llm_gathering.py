import pytest

from autotune.cli import exit_codes
from tests.sdk.client.test_llm_gathering import add


@pytest.fixture
def api(ledger, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    return ledger


def imported(api, run, tmp_path, *lines):
    (tmp_path / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines))
    options = ("--format", "openai", "--connection", api.new_connection(), "--purpose", "scoring")
    import_id = run("llm", "import", "rows.jsonl", *options).stdout.strip()
    for number in range(2):
        add(api, f"llm_{number}", importId=import_id)
    api.end("llm_0")
    return import_id


def test_requests_of_an_import_are_waited_for_and_printed(api, run, tmp_path):
    import_id = imported(api, run, tmp_path, "{}", "{}")
    api.end_later("llm_1", 0.1)
    ran = run("llm", "wait", "--import", import_id, "--timeout", 20)
    assert (ran.exit_code, ran.last_line) == (exit_codes.OK, "completed 2 of 2")
    ran = run("llm", "results", "--import", import_id)
    assert {one["id"] for one in ran.json_lines} == {"llm_0", "llm_1"}


def test_rejected_lines_are_said_and_are_not_a_success(api, run, tmp_path):
    import_id = imported(api, run, tmp_path, "{}", "broken")
    api.end("llm_1")
    ran = run("llm", "wait", "--import", import_id)
    assert (ran.exit_code, ran.last_line) == (exit_codes.INCOMPLETE, "completed 2 of 2")
    assert "1 lines of the import were rejected" in ran.stderr


def test_requests_of_a_batch_are_waited_for(api, run):
    add(api, "llm_1")
    batch_id = api.new_batch("llm_1")
    ran = run("llm", "wait", "--batch", batch_id, "--timeout", 0.1)
    assert (ran.exit_code, ran.last_line) == (exit_codes.INCOMPLETE, "completed 0 of 1")
    api.end("llm_1")
    assert [one["id"] for one in run("llm", "results", "--batch", batch_id).json_lines] == ["llm_1"]


def test_just_one_way_says_which_are_meant(api, run):
    batch_id = api.new_batch()
    for given in ((), ("--batch", batch_id, "ids.txt")):
        ran = run("llm", "wait", *given)
        assert (ran.exit_code, "ids or files, or --import" in ran.stderr) == (
            exit_codes.USAGE,
            True,
        )
    assert run("llm", "wait", "--batch", "b").exit_code == exit_codes.NOT_FOUND
    assert run("llm", "wait", "--import", batch_id).exit_code == exit_codes.NOT_FOUND
