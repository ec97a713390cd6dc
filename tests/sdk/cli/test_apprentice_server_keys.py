"""Keys of servers of small models in an ``apprentice.yaml``: connections have them."""

import pytest

from autotune.cli import exit_codes
from tests.support.apprentice_files import changed

KEY = "sk-of-the-proxy-0123456789"
URL = "http://127.0.0.1:8999/v1"
LINEAR = "local:\n  backend: linear"
UNCHANGED = [f"{task}: unchanged, version 1" for task in ("support", "language")]
TRAINING = "training:\n  backend: linear\n  fine_tune_batch_size: 50\n"


@pytest.fixture
def apply(run, api, monkeypatch, tmp_path):
    """Apply a file whose small model is served at ``URL``, with more lines of ``local``."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-provider")
    monkeypatch.setenv("PROXY_KEY", KEY)

    def apply_file(*lines):
        local = "\n  ".join(("local:", "backend: vllm", f"url: {URL}", *lines))
        text = changed((LINEAR, local), (TRAINING, ""))
        (tmp_path / "apprentice.yaml").write_text(text, encoding="utf-8")
        ran = run("apprentice", "apply")
        assert KEY not in ran.stdout + ran.stderr
        return ran

    return apply_file


def of_server(run):
    found = run("llm", "connections", "--json").json_lines
    return [one for one in found if one["provider"] == "simulated"]


def test_a_variable_becomes_a_connection_to_that_server_once(run, apply):
    assert apply("api_key_env: PROXY_KEY").exit_code == 0
    (made,) = of_server(run)
    assert (made["baseUrl"], made["keyEndsWith"]) == (URL, KEY[-4:])
    assert made["name"] == "apprentice vllm PROXY_KEY"
    shown = run("apprentice", "show", "support", "--json").json_lines[0]
    assert shown["configuration"]["local"]["connectionId"] == made["id"]

    again = apply("api_key_env: PROXY_KEY")
    assert again.stdout.splitlines() == UNCHANGED
    named = apply(f"connection: {made['id']}")
    assert named.stdout.splitlines() == UNCHANGED
    assert of_server(run) == [made]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["api_key_env: NOWHERE"], "local.api_key_env: the environment variable NOWHERE holds no"),
        (["api_key_env: sk-lower"], "the key itself never stands in this file"),
        (["connection: 5"], "local.connection: expected an id llc_"),
        (["api_key_env: A", "connection: llc_1"], "either connection or api_key_env, not both"),
        (["connection_id: llc_1"], "local.connection_id: is called connection here"),
        (["api_key: sk-1"], "a key never stands in this file"),
    ],
)
def test_what_names_no_key_is_refused_with_its_place(run, apply, lines, said):
    ran = apply(*lines)
    assert ran.exit_code == exit_codes.USAGE
    assert said in ran.stderr
    assert of_server(run) == []
