from autotune.cli import exit_codes


def made(run, api, *options):
    what = ["--name", "trainer", "--task", api.new_task(), "--model", "m"]
    return run("reward-urls", "create", *what, *options)


def test_a_url_is_shown_once_with_each_trainers_path(api, run):
    ran = made(run, api)
    shown = dict(line.split(None, 1) for line in ran.stdout.splitlines())
    assert shown["nemo-gym"] == f"{shown['url']}/nemo-gym/verify"
    assert shown["eval-protocol"] == f"{shown['url']}/eval-protocol/evaluate"
    assert {f"{shown['url']}/{one}" for one in ("openrlhf", "slime", "azure", "nova")} <= set(
        shown.values()
    )
    assert "shown this once" in ran.stderr
    assert shown["url"] not in run("reward-urls", "list").stdout


def test_urls_are_made_for_a_time_listed_shown_and_revoked(api, run):
    reward_url = made(run, api, "--expires-at", "2030-01-01T00:00:00+0000", "--json").json_lines[0]
    told = reward_url["rewardUrl"]
    assert told["expiresAt"].startswith("2030-01-01T00:00:00")
    listed = run("reward-urls", "list").stdout
    assert told["id"] in listed
    assert "active" in listed
    assert run("reward-urls", "get", told["id"], "--json").json_lines == [told]
    assert "revoked" in run("reward-urls", "revoke", told["id"]).stdout
    assert run("reward-urls", "get", "rwu_none").exit_code == exit_codes.NOT_FOUND
