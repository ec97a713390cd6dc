import json

from autotune.cli import exit_codes


def made(run, *options):
    ran = run("keys", "create", "--name", "k", "--role", "admin", *options, "--json")
    return ran.json_lines[0]


def test_a_key_has_a_time_and_another_name(run):
    key = made(run, "--expires-at", "2099-01-01T00:00:00+0000")["key"]
    assert key["expiresAt"].startswith("2099-01-01")
    renamed = run("keys", "rename", key["id"], "night run", "--json").json_lines[0]
    assert renamed["name"] == "night run"
    assert "night run" in run("keys", "list").stdout


def test_a_key_is_revoked_with_what_it_made(api, run, monkeypatch):
    first = made(run)
    kept = made(run)
    with monkeypatch.context() as patch:
        patch.setenv("AUTOTUNE_API_KEY", first["apiKey"])
        second = made(run)
        patch.setenv("AUTOTUNE_API_KEY", second["apiKey"])
        third = made(run)
        session = run("console", "--json").json_lines[0]["session"]
        hook = run("webhooks", "create", "--url", "http://127.0.0.1:1/hook", "--json")
        task = ["--task", api.new_task(), "--model", "m"]
        url = run("reward-urls", "create", "--name", "n", *task, "--json")
        link = run("reviews", "link", "--reviewer", "anna", "--json").json_lines[0]
        address = ["--provider", "simulated", "--base-url", "http://127.0.0.1:1/v1"]
        connection = run("llm", "connect", "--name", "c", *address, "--json").json_lines[0]
    gone = run("keys", "revoke", first["key"]["id"], "--with-made", "--json").json_lines
    assert [(one["what"], one["id"]) for one in gone] == [
        ("key", first["key"]["id"]),
        ("key", second["key"]["id"]),
        ("key", third["key"]["id"]),
        ("reward URL", url.json_lines[0]["rewardUrl"]["id"]),
        ("webhook", hook.json_lines[0]["webhook"]["id"]),
        ("review link", link["link"]["id"]),
        ("connection", connection["id"]),
    ]
    sessions = run("sessions", "list", "--json").json_lines
    assert [one["status"] for one in sessions if one["id"] == session["id"]] == ["revoked"]
    again = run("keys", "revoke", first["key"]["id"], "--with-made")
    assert again.stdout.split() == ["key", first["key"]["id"]]
    listed = [json.loads(line) for line in run("keys", "list", "--json").stdout.splitlines()]
    active = [key["id"] for key in listed if key["status"] == "active"]
    assert active == [listed[0]["id"], kept["key"]["id"]]


def test_the_key_that_revokes_goes_last(api, run, monkeypatch):
    own = made(run)
    monkeypatch.setenv("AUTOTUNE_API_KEY", own["apiKey"])
    below = made(run)
    gone = run("keys", "revoke", own["key"]["id"], "--with-made", "--json").json_lines
    assert [one["id"] for one in gone] == [below["key"]["id"], own["key"]["id"]]
    assert run("keys", "me").exit_code != exit_codes.OK
