import re
from pathlib import Path

from autotune.protocol.rewards import CONTRACT_PATHS

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "reward-urls.md"


def test_every_example_of_the_guide_runs(api, client, shell, monkeypatch, capsys):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    text = GUIDE.read_text("utf-8")
    task_id = api.new_task()
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    exec(compile(example, GUIDE.name, "exec"), {"task_id": task_id})
    (made,) = client.reward_urls.list()
    assert capsys.readouterr().out.startswith(f"https://rewards.test/r/{made.id}")

    for example in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        shell.run(example, TASK_ID=task_id, REWARD_URL_ID=made.id).check_returncode()
    assert sorted(one.state for one in client.reward_urls.list()) == ["active", "revoked"]


def test_the_guide_names_every_path():
    text = GUIDE.read_text("utf-8")
    for path in CONTRACT_PATHS.values():
        assert f"`/{path}`" in text, path
    for guide in re.findall(r"\((trainers/[a-z-]+\.md)\)", text):
        assert (GUIDE.parent / guide).is_file(), guide
