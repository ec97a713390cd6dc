"""An ``apprentice.yaml`` for tests."""

APPRENTICE_YAML = """\
remote:
  primary:
    provider: openai
    model: gpt-4o-mini
    api_key_env: OPENAI_API_KEY
    max_output_tokens: 200
local:
  backend: linear
thresholds:
  phase1_to_phase2: 50
  phase2_to_phase3: 0.9
  coaching_trigger: 0.8
  emergency_threshold: 0.6
sampling:
  decay: exponential
training:
  backend: linear
  fine_tune_batch_size: 50
tasks:
  support:
    description: Tells what a customer wants.
    input_schema: {type: object, properties: {text: {type: string}}}
    output_schema:
      type: object
      properties: {intent: {type: string}}
    system_prompt: You tell intents apart.
    prompt_template: "{{text}}"
    evaluator:
      type: structured_match
      match_fields: [intent]
    budgets:
      daily: "5"
  language:
    description: Names languages.
    input_schema: {type: object, properties: {text: {type: string}}}
    output_schema: {type: object, properties: {language: {type: string}}}
    system_prompt: You name languages.
    prompt_template: "{{text}}"
    evaluator: {type: exact_match}
    budgets: {monthly: 20.50}
"""
"""Two tasks, of which some sections stand at the top."""


def changed(*pairs: tuple[str, str]) -> str:
    """Return the file with texts replaced, each of which it has once."""
    text = APPRENTICE_YAML
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text
