import re

from autotune.cli import exit_codes

URL = "https://subscriber.example"


def created(run, *options, url=URL):
    return run("webhooks", "create", "--url", url, *options, "--json").json_lines[0]["webhook"]


def test_webhooks_are_created_listed_shown_changed_and_deleted(run):
    webhook = created(run, "--event", "score.completed", "--event", "batch.completed")
    assert webhook["eventTypes"] == ["score.completed", "batch.completed"]
    listed = run("webhooks", "list").stdout
    assert URL in listed
    assert "score.completed,batch.completed" in listed
    changed = run("webhooks", "update", webhook["id"], "--all-events", "--status", "disabled")
    assert "eventTypes       all" in changed.stdout
    assert run("webhooks", "get", webhook["id"], "--json").json_lines[0]["status"] == "disabled"
    assert run("webhooks", "delete", webhook["id"], "--json").json_lines[0]["deleted"]
    assert run("webhooks", "get", webhook["id"]).exit_code == exit_codes.NOT_FOUND


def test_a_secret_is_shown_once_on_stdout(run):
    ran = run("webhooks", "create", "--url", URL)
    assert re.fullmatch(r"secret +whsec_[\w+/=]+", ran.last_line)
    assert "shown this once" in ran.stderr
    rotated = run("webhooks", "rotate-secret", created(run)["id"])
    assert re.fullmatch(r"secret +whsec_[\w+/=]+", rotated.last_line)


def test_all_failed_deliveries_are_replayed_and_no_other(api, run, subscriber, happen):
    webhook_id = created(run, url=subscriber.url)["id"]
    failed = happen(60, webhook_id=webhook_id, refused=True)
    happen(webhook_id=webhook_id)
    listed = run("webhooks", "deliveries", webhook_id, "--status", "failed", "--limit", 2)
    assert failed[-1] in listed.stdout
    assert "webhook_disabled" in listed.stdout
    assert len(listed.stdout.splitlines()) == 3
    ran = run("webhooks", "replay", webhook_id, "--failed")
    assert ran.stdout == "replayed 60\n"
    # One that was sent too fast is sent again: each is counted once.
    assert len({one.path for one in api.received if one.path.endswith("/replay")}) == 60
    assert run("webhooks", "replay", webhook_id, failed[0]).stdout == "replayed 1\n"


def test_wrong_usage_is_told(run):
    webhook_id = created(run)["id"]
    for wrong in (
        ["replay", webhook_id],
        ["replay", webhook_id, "evt_1", "--failed"],
        ["update", webhook_id, "--all-events", "--event", "score.completed"],
        ["update", webhook_id, "--status", "paused"],
        ["create", "--url", URL, "--event", "score.deleted"],
    ):
        ran = run("webhooks", *wrong)
        assert ran.exit_code == exit_codes.USAGE, wrong
        assert len(ran.stderr.splitlines()) == 1
    assert run("webhooks", "replay", webhook_id, "evt_1").exit_code == exit_codes.NOT_FOUND
