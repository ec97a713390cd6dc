import re
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "decks.md"


def test_the_example_of_the_guide_runs(api, monkeypatch, capsys):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    (example,) = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)
    names = {}
    exec(compile(example, GUIDE.name, "exec"), names)
    names["client"].close()
    assert capsys.readouterr().out == "1 proposed small\n"
