"""``autotune overview`` and ``autotune tasks stats``: figures over time as tables and as JSON."""

from autotune.cli import exit_codes

JUDGED = [
    {"modelId": "m1", "metadata": {"value": 0.5}},
    {"modelId": "m2", "metadata": {"value": 1.0}},
    {"modelId": "m2", "metadata": {"outcome": "failed"}},
]


def words(ran):
    return [line.split() for line in ran.stdout.splitlines()]


def test_the_overview_shows_what_was_submitted_decided_and_is_open(api, run, task_id):
    api.platform.submit(task_id, *JUDGED)
    api.platform.score()
    api.platform.project()
    api.platform.submit(task_id, {})
    shown = words(run("overview", "--window", "1h"))
    for line in (["submitted", "4"], ["scored", "2"], ["failed", "1"], ["item_failed", "1"]):
        assert line in shown
    assert ["mean", "score", "0.7500"] in shown
    assert ["open", "1"] in shown
    (since,) = [line for line in shown if line[:2] == ["open", "since"]]
    assert since[2] != "-"
    rows = [line for line in shown if line[:1] and line[0].startswith("20")]
    assert sum(int(row[2]) for row in rows) == 4
    found = run("overview", "--json").json_lines[0]
    assert (found["window"], found["totals"]["submitted"]) == ("24h", 4)
    assert run("overview", "--window", "2h").exit_code == exit_codes.USAGE


def test_a_tasks_figures_are_a_table_by_model_and_version(api, run, task_id):
    empty = run("tasks", "stats", task_id)
    assert (empty.stdout, empty.stderr) == ("", f"{task_id} has no verdicts in this window\n")
    api.platform.submit(task_id, *JUDGED)
    api.platform.score()
    api.platform.project()
    shown = words(run("tasks", "stats", task_id))
    named = {tuple(line[:2]): line for line in shown}
    assert named["model", "m1"][2:7] == ["1", "0", "0", "0", "0.5000"]
    assert named["model", "m2"][2:7] == ["1", "0", "1", "0", "1.0000"]
    assert ["failed", "with", "item_failed:", "1"] in shown
    one = run("tasks", "stats", task_id, "--model", "m1", "--window", "24h", "--json")
    assert one.json_lines[0]["totals"]["counts"]["scored"] == 1
    assert run("tasks", "stats", "task_" + "0" * 26).exit_code == exit_codes.NOT_FOUND
    over_time = run("graders", "stats", api.grader_id, "--window", "24h", "--json").json_lines[0]
    assert len(over_time["overTime"]["buckets"]) == 24


def test_two_models_are_compared_on_the_prompts_that_both_answered(api, run, task_id):
    for model, scores in (("old", (0.5, 0.5)), ("new", (1.0, 0.75))):
        judged = [
            {"modelId": model, "prompt": f"p{at}", "metadata": {"value": score}}
            for at, score in enumerate(scores)
        ]
        api.platform.submit(task_id, *judged)
    api.platform.score()
    shown = words(run("tasks", "compare", task_id, "old", "new"))
    for line in (["prompts", "2"], ["difference", "+0.3750"], ["wins", "2"], ["losses", "0"]):
        assert line in shown
    assert ["95", "%", "interval", "-1.2133", "to", "+1.9633"] in shown
    examples = [line for line in shown if line[-1].startswith("cmp_")]
    assert [line[:3] for line in examples] == [
        ["+0.5000", "0.5000", "1.0000"],
        ["+0.2500", "0.5000", "0.7500"],
    ]
    tied = run("tasks", "compare", task_id, "old", "new", "--tolerance", 0.3, "--json")
    assert (tied.json_lines[0]["wins"], tied.json_lines[0]["ties"]) == (1, 1)
    nothing = run("tasks", "compare", task_id, "old", "third")
    assert nothing.stderr == f"old and third answered no prompt of {task_id} both\n"
    assert run("tasks", "compare", task_id, "old", "old").exit_code == exit_codes.USAGE
