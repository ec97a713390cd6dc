from autotune.cli import exit_codes


def test_batches_are_listed_with_what_is_pending_in_them(api, run, task_id):
    api.grading_seconds = None
    api.platform.submit(task_id, {}, {}, {})
    (line,) = run("batches", "list", "--task", task_id, "--json").json_lines
    assert (line["state"], line["counts"]["pending"]) == ("open", 3)
    shown = run("batches", "list", "--state", "open").stdout.splitlines()
    assert shown[0].split()[:3] == ["ID", "STATE", "CREATED"]
    assert shown[1].split()[0] == line["id"]
    assert run("batches", "list", "--state", "closed", "--json").json_lines == []
    pending = run("batches", "completions", line["id"], "--state", "pending", "--limit", 2)
    assert [row.split()[1] for row in pending.stdout.splitlines()[1:]] == ["pending"] * 2
    assert run("batches", "list", "--task", "xyz").exit_code == exit_codes.NOT_FOUND
