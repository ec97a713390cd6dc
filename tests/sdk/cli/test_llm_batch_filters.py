from autotune.cli import exit_codes

LONG_AGO = "2026-01-01T00:00:00Z"


def test_the_command_line_has_them(ledger, run, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    connection = ledger.new_connection()
    old = ledger.new_batch(createdAt=LONG_AGO, model="old", connectionId=connection)
    ledger.new_batch(model="new")
    for options in (("--model", "old"), ("--connection", connection), ("--until", "2026-01-02")):
        (line,) = run("llm", "batches", *options).stdout.splitlines()[1:]
        assert line.split()[0] == old
    refused = run("llm", "batches", "--status", "open")
    assert (refused.exit_code, "--status" in refused.stderr) == (exit_codes.USAGE, True)
