"""What an ``apprentice.yaml`` says, and what of it is wrong, by line and key."""

from pathlib import Path

from autotune.client.apprentice_files.models import KeySource
from autotune.client.apprentice_files.reading import parse_apprentice_file
from autotune.client.apprentice_files.yaml_text import read_yaml
from tests.support.apprentice_files import APPRENTICE_YAML, changed

EXAMPLE = Path(__file__).parents[3] / "examples" / "apprentice.yaml"
VARIABLE = "api_key_env: OPENAI_API_KEY"
CONNECTION = "llc_" + "0" * 26


def test_a_section_at_the_top_holds_for_each_task_without_its_own():
    own = "    local: {backend: vllm, url: u}\n    training: null\n    budgets:\n"
    file = parse_apprentice_file(changed(("    budgets:\n", own)))
    support, language = (file.tasks[name].configuration for name in ("support", "language"))
    assert support.thresholds == language.thresholds
    assert support.thresholds.phase2_to_phase3 == 0.9
    assert (support.local.backend, support.local.url) == ("vllm", "u")
    assert support.training is None
    assert language.local.backend == "linear"
    assert support.confidence.window_size == 100


def test_a_section_of_a_task_takes_the_place_of_that_at_the_top_as_a_whole():
    own = "    sampling: {decay: linear}\n    budgets:\n"
    text = changed(("decay: exponential", "decay: exponential\n  k: 9"), ("    budgets:\n", own))
    file = parse_apprentice_file(text)
    assert file.tasks["support"].configuration.sampling.k == 4
    assert file.tasks["language"].configuration.sampling.k == 9


def test_amounts_are_taken_as_they_are_written():
    file = parse_apprentice_file(APPRENTICE_YAML)
    assert file.tasks["language"].configuration.budgets.monthly == "20.50"
    exact = parse_apprentice_file(changed(("monthly: 20.50", "monthly: 0.100000001")))
    assert exact.tasks["language"].configuration.budgets.monthly == "0.100000001"


def test_models_say_with_whose_key_they_are_asked():
    more = f"{{provider: google, model: g, connection: {CONNECTION}, max_output_tokens: 9}}"
    file = parse_apprentice_file(changed(("local:\n", f"  additional: [{more}]\nlocal:\n")))
    task = file.tasks["support"]
    openai, google = (one.source for one in task.asked)
    assert openai == KeySource("openai", api_key_env="OPENAI_API_KEY")
    assert openai.connection_name == "apprentice openai OPENAI_API_KEY"
    assert google == KeySource("google", connection=CONNECTION)
    assert google.ledgers_provider == "gemini"
    known = "llc_" + "1" * 26
    remote = task.with_connections({openai: known}).remote
    assert remote.primary.connection_id == known
    assert remote.additional[0].connection_id == CONNECTION
    assert remote.primary.model == "gpt-4o-mini"


def test_words_of_yaml_1_1_are_texts():
    text = changed(("description: Names languages.", "description: no"))
    assert parse_apprentice_file(text).tasks["language"].configuration.description == "no"
    text = "[yes, 1:30, 0x10, 2026-11-27, true, ~, 1e3, '1']"
    expected = ["yes", "1:30", "0x10", "2026-11-27", True, None, 1000.0, "1"]
    assert read_yaml(text, source="f").value == expected


def test_the_example_can_be_read():
    file = parse_apprentice_file(EXAMPLE.read_text("utf-8"), source=EXAMPLE.name)
    assert list(file.tasks) == ["support_intent", "language"]
