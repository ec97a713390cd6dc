"""Limits of the apprentice's tasks: their configurations, runs, examples and trainings."""

MAX_APPRENTICE_TASKS, MAX_APPRENTICE_CONFIGURATIONS = 100, 500
"""Most tasks of the apprentice that an organisation has, and most configurations of one."""

MAX_APPRENTICE_VERSIONS, MAX_SERVED_MODEL_CHARACTERS = 200, 500
"""Most versions of the small model that a task ever has, and longest name of a model that is
served."""

MOST_VERSION_CHANGES = 100
"""As many of the last things that pairs did to a version are shown with it."""

MAX_APPRENTICE_TRAININGS = 1_000
"""Most trainings of its small model that a task ever has; each that is judged has to show more."""

MAX_APPRENTICE_PROMPT_CHARACTERS, MAX_APPRENTICE_PROPERTIES = 20_000, 64
"""Longest system prompt or prompt template of such a task, and most properties of its input or
output."""

MAX_ADDITIONAL_MODELS, MAX_MATCH_FIELDS, MAX_SPLIT_FIELDS = 5, 64, 8
"""Most further paid models of such a task, most fields that are compared, and most fields by which
examples are grouped."""

MAX_APPRENTICE_INPUT_BYTES, MAX_APPRENTICE_OUTPUT_BYTES = 100_000, 100_000
"""Largest input of a run as compact JSON, and largest answer of a version that is kept."""

MAX_IMPORTED_EXAMPLES, MAX_EXAMPLES_AT_ONCE = 100_000, 1_000
"""Most imported examples of one definition of such a task, and most in one request."""

MAX_DATA_SET_EXAMPLES = 100_000
"""Most examples of a data set, which has the latest ones, and most that are counted by side."""

MAX_APPRENTICE_WAIT_SECONDS = 25
"""Longest ``?wait=`` for a run: below the 30 s after which API Gateway answers 503 by itself."""

MAX_APPRENTICE_RUN_DAYS = 92
"""Most days of one list of a task's runs."""

APPRENTICE_RUN_SECONDS = 900
"""After so long a run that was not answered has failed."""

MAX_APPRENTICE_REPORT_DAYS, MAX_SENT_REPORT_BYTES = 90, 200_000
"""Most days of a report of such a task, and largest one that webhooks get."""
