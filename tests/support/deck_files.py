"""A deck file as a person writes it."""

GRADER = """
# Grader: Tone

## Criteria

Is it kind?

### What counts

- a greeting

## Levels

- **+3**: Warm,
  and to the point.
- +2: Friendly.
* **1:** Polite.
- **0**: Neither.
- **−1**: Curt.
- **-2**: Cold.
- **-3**: Rude.

## Not applicable when

There is no answer.
"""  # noqa: RUF001 - a minus sign, as word processors make it
HEAD = '+++\ndeck = 1\nname = "Support"\n+++\n\n# System prompt\n\n````\n'
PROMPT = "You help with {{product}}.\n\n# Rules\n\n```json\n{}\n```\n "
WRITTEN = f"{HEAD}{PROMPT}\n````\n{GRADER}"
