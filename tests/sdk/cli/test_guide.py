import gzip
import re
from pathlib import Path

from autotune.cli import exit_codes

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "command-line.md"


def test_every_example_of_the_guide_runs(api, shell, tmp_path, write_jsonl):
    text = GUIDE.read_text("utf-8")
    (line,) = re.findall(r"^```json\n(.*?)\n```$", text, re.M | re.S)
    write_jsonl([line])
    examples = [
        example
        for example in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
        if not example.startswith("pip ")
    ]
    assert len(examples) == 5
    ran = shell.run("\n".join(examples).replace("https://grader.example", api.grader.url))
    assert ran.returncode == 0, ran.stderr
    assert "scored 1 of 1" in ran.stdout
    assert "are scored again; 0 failed" in ran.stdout
    (part,) = (tmp_path / "scores").glob("part-*.jsonl.gz")
    assert len(gzip.decompress(part.read_bytes()).splitlines()) == 1


def test_the_commands_of_the_guide_to_training_data_run(api, shell, tmp_path):
    text = (GUIDE.parent / "training-data.md").read_text("utf-8")
    commands = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S))
    ran = shell.run(commands, TASK_ID=api.new_task())
    assert ran.returncode == 0, ran.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"scores", "pairs", "good"}


def test_the_examples_of_the_guide_to_builtin_graders_run(api, shell):
    text = (GUIDE.parent / "builtin-graders.md").read_text("utf-8")
    (example,) = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    ran = shell.run(example, cwd=GUIDE.parents[2], options="-uo")
    assert ran.returncode == 0, ran.stderr
    assert "scored 5 of 6" in ran.stdout
    for told in ("0.9", "0.5", "builtin_input_missing"):
        assert told in ran.stdout.partition("scored 5 of 6")[2]
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    exec(compile(example, "builtin-graders.md", "exec"), {})
    tasks = api.platform.call("GET", "/api/v1/tasks").json["tasks"]
    assert [task["name"] for task in tasks] == ["contacts", "capitals"]


def test_the_guide_lists_every_exit_status():
    told = {int(status) for status in re.findall(r"^\| (\d+) \|", GUIDE.read_text("utf-8"), re.M)}
    assert told == {value for name, value in vars(exit_codes).items() if name.isupper()}
