import re
from pathlib import Path

from autotune.protocol.completions import DecidedBy
from autotune.protocol.tasks import Aggregation, ReviewPolicy

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "several-graders.md"


def test_every_example_of_the_guide_runs(api, client, shell, verified, monkeypatch, capsys):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", api.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", api.api_key)
    text = GUIDE.read_text("utf-8")
    ids = [verified() for _ in range(2)]
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    exec(compile(example, GUIDE.name, "exec"), {})
    assert capsys.readouterr().out == "scored panel 2\n"

    (example,) = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    shell.run(example, FIRST_ID=ids[0], SECOND_ID=ids[1]).check_returncode()
    made, told = client.tasks.list()
    assert made.model_dump(exclude=VARYING) == told.model_dump(exclude=VARYING)


VARYING = {"id", "created_at", "updated_at"}


def test_the_guide_names_everything_there_is():
    text = GUIDE.read_text("utf-8")
    for name in (*Aggregation.__args__, *DecidedBy.__args__, "quorum_missed", "review_expired"):
        assert f"`{name}`" in text, name
    for field in ReviewPolicy.model_fields.values():
        assert field.alias == "instructions" or f"`{field.alias}`" in text, field.alias
