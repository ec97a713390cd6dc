"""What is wrong in an ``apprentice.yaml``: each fault by line and key."""

import pytest

from autotune.client.apprentice_files.faults import ApprenticeFileError
from autotune.client.apprentice_files.reading import parse_apprentice_file
from tests.support.apprentice_files import changed

VARIABLE = "api_key_env: OPENAI_API_KEY"
CONNECTION = "llc_" + "0" * 26
TOP = "remote.primary"
SUPPORT = "tasks.support"
LANGUAGE = "tasks.language"
CODE = "autotune graders register"
STORED = "stored by Autotune"
COUNTED = "counted by Autotune"
EXACT = "evaluator: {type: exact_match}"


def faults_of(text):
    with pytest.raises(ApprenticeFileError) as caught:
        parse_apprentice_file(text)
    return [(one.line, one.key, one.expected) for one in caught.value.faults]


def fault_of(text):
    (fault,) = faults_of(text)
    return fault


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "said"),
    [
        # keys and values
        (
            "coaching_trigger: 0.8",
            "coaching_trigger: high",
            12,
            "thresholds.coaching_trigger",
            "number",
        ),
        (
            "coaching_trigger: 0.8",
            "coaching_trigger: 0.95",
            9,
            "thresholds",
            "coaching_trigger, that",
        ),
        ("phase1_to_phase2: 50", "phase1_to_phase2: 49", 10, "thresholds.phase1_to_phase2", "50"),
        (
            "phase1_to_phase2: 50",
            "phase1_to_phase2: '50'",
            10,
            "thresholds.phase1_to_phase2",
            "integer",
        ),
        ("backend: linear\nthre", "backend: cobol\nthre", 8, "local.backend", "sagemaker"),
        ("backend: linear\nthre", "backend: vllm\nthre", 7, "local.url", "needed by"),
        ("decay: exponential", "decay: step", 14, "sampling.steps", "needed"),
        ("decay: exponential", "decay: linear\n  min_floor: 0", 16, "sampling.min_floor", "0.001"),
        (
            "fine_tune_batch_size: 50",
            "fine_tune_batch_size: 49",
            18,
            "training.fine_tune_batch_size",
            "50",
        ),
        (
            "training:\n  backend: linear",
            "training:\n  backend: openai",
            17,
            "training.backend",
            "is not offered",
        ),
        (
            "match_fields: [intent]",
            "match_fields: [intent, mood]",
            30,
            f"{SUPPORT}.evaluator.match_fields",
            "output_schema",
        ),
        (
            'system_prompt: You tell intents apart.\n    prompt_template: "{{text}}"',
            "system_prompt: x\n    prompt_template: y",
            27,
            f"{SUPPORT}.prompt_template",
            "input_schema",
        ),
        ('daily: "5"', "daily: -5", 32, f"{SUPPORT}.budgets.daily", "US dollars"),
        ('daily: "5"', "yearly: 5", 32, f"{SUPPORT}.budgets.yearly", "no key"),
        (
            "sampling:\n",
            "confidence: {max_window_age: 7w}\nsampling:\n",
            14,
            "confidence.max_window_age",
            "7d",
        ),
        ("sampling:\n  decay: exponential", "sampling:", 14, "sampling", "keys with their values"),
        ("  support:\n", "  Support:\n", 20, "tasks.Support", "lower-case"),
        (EXACT, "evaluator: {type: best}", 39, f"{LANGUAGE}.evaluator.type", "exact_match"),
        (EXACT, "evaluator: exact_match", 39, f"{LANGUAGE}.evaluator", "type"),
        # models and keys
        (
            "provider: openai",
            "provider: mistral",
            3,
            f"{TOP}.provider",
            "anthropic, openai, google",
        ),
        (VARIABLE, "api_key_env: sk-12345", 5, f"{TOP}.api_key_env", "never stands"),
        (VARIABLE, "api_key_env: 5", 5, f"{TOP}.api_key_env", "variable"),
        (VARIABLE, "connection: mine", 5, f"{TOP}.connection", "llc_"),
        (VARIABLE, "timeout_s: 5", 2, TOP, "either connection or api_key_env"),
        (VARIABLE, f"{VARIABLE}\n    connection: {CONNECTION}", 2, TOP, "not both"),
        (VARIABLE, f"{VARIABLE}\n    api_key: sk-12345", 6, f"{TOP}.api_key", "api_key_env"),
        (
            VARIABLE,
            f"{VARIABLE}\n    connection_id: {CONNECTION}",
            6,
            f"{TOP}.connection_id",
            "connection",
        ),
        ("max_output_tokens: 200", "max_output_tokens: 0", 6, f"{TOP}.max_output_tokens", "1"),
        # what other programs' files have
        (
            "sampling:\n",
            "audit_log_path: a.jsonl\nsampling:\n",
            14,
            "audit_log_path",
            "autotune audit",
        ),
        ("sampling:\n", "audit: {path: a.jsonl}\nsampling:\n", 14, "audit", "autotune audit"),
        ("sampling:\n", "training_data_dir: data\nsampling:\n", 14, "training_data_dir", STORED),
        (
            "fine_tune_batch_size: 50",
            "fine_tune_batch_size: 50\n  data_path: d",
            19,
            "training.data_path",
            STORED,
        ),
        ("sampling:\n", "budget_state_path: b.json\nsampling:\n", 14, "budget_state_path", COUNTED),
        (
            'daily: "5"',
            'daily: "5"\n      state_path: b',
            33,
            f"{SUPPORT}.budgets.state_path",
            COUNTED,
        ),
        (EXACT, "evaluator: {type: my.module.judge}", 39, f"{LANGUAGE}.evaluator.type", CODE),
        (EXACT, "evaluator: my.module.judge", 39, f"{LANGUAGE}.evaluator", CODE),
        (
            EXACT,
            "evaluator: {type: custom, grader_id: a.b}",
            39,
            f"{LANGUAGE}.evaluator.grader_id",
            CODE,
        ),
        # sections
        ("sampling:\n", "budgets: {daily: '1'}\nsampling:\n", 14, "budgets", "each of the 2"),
        (
            "sampling:\n",
            "evaluator: {type: exact_match}\nsampling:\n",
            14,
            "evaluator",
            "holds for no task",
        ),
        ("sampling:\n", "models: []\nsampling:\n", 14, "models", "no key"),
    ],
)
def test_a_fault_has_its_line_and_key(old, new, line, key, said):
    fault = fault_of(changed((old, new)))
    assert fault[:2] == (line, key)
    assert said in fault[2]
    assert "12345" not in fault[2]


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "text\n"])
def test_what_has_no_keys_is_refused(text):
    assert fault_of(text)[1:] == (
        "",
        "expected keys with their values: remote, local, tasks and others",
    )


def test_a_key_that_stands_twice_names_both_lines():
    text = changed(("coaching_trigger: 0.8", "coaching_trigger: 0.8\n  coaching_trigger: 0.7"))
    assert fault_of(text) == (
        13,
        "thresholds.coaching_trigger",
        "this key stands on line 12 already",
    )


def test_all_faults_are_said_at_once_and_one_at_the_top_once():
    text = changed(
        ("max_output_tokens: 200", "max_output_tokens: many"),
        ("provider: openai", "provider: mistral"),
        ("decay: exponential", "decay: slow"),
        ("match_fields: [intent]", "match_fields: []"),
        ("    description: Names languages.\n", ""),
    )
    assert [(line, key) for line, key, _ in faults_of(text)] == [
        (3, "remote.primary.provider"),
        (6, "remote.primary.max_output_tokens"),
        (15, "sampling.decay"),
        (30, "tasks.support.evaluator.match_fields"),
        (33, "tasks.language.description"),
    ]


def test_a_section_that_is_nowhere_is_missing_in_each_task():
    text = changed(("sampling:\n  decay: exponential\n", ""))
    assert faults_of(text) == [
        (18, "tasks.support.sampling", "is missing"),
        (31, "tasks.language.sampling", "is missing"),
    ]


def test_a_key_as_on_the_wire_names_the_one_that_is_meant():
    text = changed(("phase1_to_phase2: 50", "phase1ToPhase2: 50"))
    assert (10, "thresholds.phase1ToPhase2", "no key of this name; phase1_to_phase2 is meant") in (
        faults_of(text)
    )


def test_an_error_reads_as_compilers_write_them():
    with pytest.raises(ApprenticeFileError) as caught:
        parse_apprentice_file(changed(("decay: exponential", "decay: slow")), source="x/a.yaml")
    assert str(caught.value).startswith("x/a.yaml:15: sampling.decay: ")


def test_of_many_faults_the_first_are_said():
    more = "".join(f"    no{n}: 1\n" for n in range(8))
    tasks = "".join(f"  t{n}:\n{more}" for n in range(10))
    with pytest.raises(ApprenticeFileError) as caught:
        parse_apprentice_file(f"tasks:\n{tasks}")
    assert len(caught.value.lines) == 21
    assert caught.value.lines[-1] == f"and {len(caught.value.faults) - 20} more"
