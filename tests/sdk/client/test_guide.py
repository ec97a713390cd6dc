import re
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "python-sdk.md"


def test_every_example_of_the_guide_runs(api, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    api.new_task()
    examples = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)
    assert len(examples) == 12
    names: dict = {"folder": tmp_path / "scores"}
    for example in examples:
        exec(compile(example, GUIDE.name, "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        "1.0 0.9",
        "None",
        "100 of 100",
        "100 of 100",
        "50 of 50",
        "1.0",
        "manifest.json 251",
        "active 0 0",
        "0 {} scored",
        "[1.0, 1.0]",
        printed[10],
        printed[11],
        "admin",
        "True",
    ]
    # Which of the best comes first is not said of a list over all tasks.
    assert printed[10].startswith("1.0 What is ")
    assert printed[11].startswith("not_found req_")


def test_the_examples_of_the_guide_to_training_data_run(api, client, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    monkeypatch.chdir(tmp_path)
    task_id = api.new_task()
    for response, value in (("4", 1.0), ("5", 0.5)):
        client.completions.submit(
            task_id=task_id,
            model_id="m",
            prompt="2+2",
            response=response,
            metadata={"value": value},
        )
    text = (GUIDE.parent / "training-data.md").read_text("utf-8")
    names: dict = {"task_id": task_id}
    for example in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
        compiled = compile(example, "training-data.md", "exec")
        if "client" in example:  # the others need packages of training
            exec(compiled, names)
    assert capsys.readouterr().out.splitlines() == ["1 parts in pairs", "2 records"]
