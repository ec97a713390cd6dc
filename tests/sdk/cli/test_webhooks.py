from autotune.cli import exit_codes

URL = "https://subscriber.example"


def created(run, *options):
    return run("webhooks", "create", "--url", URL, *options, "--json").json_lines[0]["webhook"]


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
    assert ran.last_line == "secret           whsec_MQ=="
    assert "shown this once" in ran.stderr
    rotated = run("webhooks", "rotate-secret", created(run)["id"])
    assert rotated.last_line == "secret           whsec_Mg=="


def test_all_failed_deliveries_are_replayed_and_no_other(api, run):
    webhook_id = created(run)["id"]
    failed = [api.store.webhooks.add_delivery(webhook_id, "failed") for _ in range(60)]
    api.store.webhooks.add_delivery(webhook_id)
    listed = run("webhooks", "deliveries", webhook_id, "--status", "failed", "--limit", 2)
    assert failed[-1] in listed.stdout
    assert "rejected" in listed.stdout
    assert len(listed.stdout.splitlines()) == 3
    ran = run("webhooks", "replay", webhook_id, "--failed")
    assert ran.stdout == "replayed 60\n"
    assert api.count("POST .*/replay") == 60
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
