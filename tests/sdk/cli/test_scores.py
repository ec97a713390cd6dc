from autotune.cli import exit_codes


def test_scores_are_listed_and_filtered(run, task_id, write_jsonl, completions):
    lines = completions(12)
    lines[5]["metadata"]["outcome"] = "failed"
    run("submit", write_jsonl(lines), "--task", task_id)
    everything = run("scores", "--task", task_id)
    assert len(everything.stdout.splitlines()) == 13
    assert "12 verdicts" in everything.stderr
    failed = run("scores", "--task", task_id, "--state", "failed")
    assert "item_failed" in failed.last_line
    assert len(run("scores", "--task", task_id, "--limit", 7, "--json").json_lines) == 7
    verdict = run("scores", "--task", task_id, "--state", "failed", "--json").json_lines[0]
    assert (verdict["state"], verdict["score"]) == ("failed", None)


def test_scores_of_every_task_are_narrowed_by_every_filter(api, run, write_jsonl, completions):
    second_id = api.new_grader()
    tasks = [api.new_task(), api.new_task(grader_id=second_id)]
    for n, task in enumerate(tasks):
        lines = completions(3)
        for place, line in enumerate(lines):
            line["modelId"] = f"policy-{place}"
            line["metadata"] = {"value": (place + n) / 4}
        run("submit", write_jsonl(lines), "--task", task)
    everything = run("scores").stdout.splitlines()
    assert len(everything) == 7
    assert everything[0].split()[:2] == ["TASK", "COMPLETION"]
    assert {line.split()[0] for line in everything[1:]} == set(tasks)

    def values(*options):
        lines = run("scores", *options, "--json").json_lines
        return sorted(line["score"]["value"] for line in lines)

    assert values("--model", "policy-1") == [0.25, 0.5]
    assert values("--min-score", 0.5) == [0.5, 0.5, 0.75]
    assert values("--min-score", 0.25, "--max-score", 0.25) == [0.25, 0.25]
    assert values("--since", "2026-01-01", "--task", tasks[0]) == [0, 0.25, 0.5]
    assert values("--until", "2026-01-01T00:00:00Z") == []
    assert values("--grader", second_id) == [0.25, 0.5, 0.75]
    refused = run("scores", "--min-score", 0.5, "--max-score", 0.25)
    assert refused.exit_code == exit_codes.USAGE
    assert "--max-score" in refused.stderr
    assert "at least --min-score, 0.5" in refused.stderr
    assert "--model:" in run("scores", "--model", "").stderr.replace("'", "")


def test_scores_of_a_task_are_listed_newest_first(run, task_id, write_jsonl, completions):
    run("submit", write_jsonl(completions(9)), "--task", task_id)
    newest = run("scores", "--task", task_id, "--newest", "--json").json_lines
    decided = [line["decidedAt"] for line in newest]
    assert len(decided) == 9
    assert decided == sorted(decided, reverse=True)
    latest = run("scores", "--task", task_id, "--newest", "--limit", 2, "--json").json_lines
    assert latest == newest[:2]
    refused = run("scores", "--newest")
    assert refused.exit_code == exit_codes.USAGE
    assert "--task" in refused.stderr
