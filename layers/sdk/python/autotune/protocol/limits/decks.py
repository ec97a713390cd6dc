"""Limits of decks, their samples, runs, labels and edits, and of captured calls."""

MAX_DECKS = 1_000
"""Most decks of one organisation."""

MAX_DECK_GRADERS, MAX_DECK_VERSIONS, MAX_DECK_SAMPLES = 20, 200, 10_000
"""Most graders of a deck, most versions of a deck or of one of its graders, most samples of one."""

MAX_DECK_PROMPT_CHARACTERS, MAX_DECK_PLACEHOLDERS = 50_000, 100
"""Longest system prompt of a deck, and most different placeholders in it."""

MAX_PROMPT_TEMPLATES, MAX_PROMPT_TEMPLATES_CHARACTERS = 500, 2_000_000
"""Most versions of an organisation's decks whose prompt has placeholders, and how long these
prompts may be together: each captured call may be compared with all of them."""

MAX_UNMATCHED_PROMPTS, MAX_UNMATCHED_EXAMPLES = 200, 10
"""Most prompts of captured calls, which no deck has, that an organisation is shown, and how many
calls of each are kept with their texts."""

MAX_MATCHED_SAMPLES = 100
"""Most samples in one request that names no deck: each is looked up by its prompt."""

MAX_INGEST_URLS = 100
"""Most ingest URLs that an organisation has at a time, revoked ones aside."""

UNMATCHED_DAYS = 30
"""How long a prompt is shown that no deck has, from the last call with it."""

DISMISSED_DAYS = 90
"""How long a prompt that was dismissed is not shown again."""

MAX_LEVELS_CRITERIA_CHARACTERS, MAX_LEVEL_CHARACTERS = 10_000, 2_000
"""Longest criteria of a deck grader, and longest text of one of its seven levels."""

MAX_LEVELS_EXAMPLES, MAX_LEVELS_EXAMPLE_CHARACTERS = 20, 10_000
"""Most examples of a deck grader, and how long input, output and explanation of one may be."""

MAX_LEVELS_RUBRIC_BYTES = 100_000
"""Largest rubric of a deck grader, as compact JSON."""

MAX_SAMPLES, MAX_BULK_SAMPLES = 100, 1_000
"""Most samples in one request, and most lines of one upload."""

MAX_SAMPLE_LABELS, MAX_BULK_LABELS = 100, 1_000
"""Most labels in a line of an upload of samples, and in all of its lines."""

MAX_SAMPLE_BYTES, MAX_SAMPLE_VALUES, MAX_SAMPLE_MESSAGES = 1_000_000, 10_000, 1_000
"""Largest sample as compact JSON, most JSON values of one, and most messages of its request."""

MAX_GROUP_KEY_CHARACTERS, MAX_EXTERNAL_ID_CHARACTERS = 200, 200
"""Longest group key and longest id of the caller's own of a sample."""

MAX_RATING_EXPLANATION_CHARACTERS = 10_000
"""Longest explanation of a rating, or of an adjudication."""

MAX_BULK_FEEDBACK, MAX_SAMPLE_RATERS = 1_000, 20
"""Most lines of one upload of ratings, and most people who rate one sample for one grader."""

MAX_SKIPPED_SAMPLES = 100
"""Most samples that a person may leave to others in one request for the next one."""
MAX_DECK_RUN_SAMPLES, MAX_OPEN_DECK_RUNS = 10_000, 20
"""Most samples that a run of a deck names, and most runs of an organisation at a time."""

MAX_DECK_TRIAL_SAMPLES, DECK_REPEATED_SAMPLES = 3, 20
"""Most samples that a grader is tried on that is not activated, and how many are judged again where
none are named."""

DECK_RUN_DAYS = 7
"""Longest that a run of a deck takes: what was not begun by then is not."""

MAX_DECK_RUN_CAP = 10**15
"""Highest cap of a run of a deck, in billionths of a US dollar: a million dollars."""

MAX_EDIT_CHANGES, MAX_EDIT_SAMPLES, MAX_EDIT_PATTERN_CHARACTERS = 10, 50, 500
"""Most changes of one edit of a rubric, most samples that it names, and how long the name and the
description of a pattern may be."""

EDIT_COPIED_WORDS, MAX_EDIT_GROWTH = 8, 2
"""So many words in a row from a sample make a copy, which an edit may not have; and how many times
as long as before a rubric may become by one edit."""

MAX_PROMPT_EDIT_INPUTS = 1_000
"""Most inputs that are answered for one edit of a system prompt."""

LEAST_PROMPT_EDIT_LABELS = 50
"""Fewest labels of each version at which an edit of a system prompt can be measured first."""

MAX_EDIT_COMPARED_SAMPLES = 2_000
"""Most labelled samples that an edit's words are compared with."""

MAX_CODED_SAMPLES, MAX_EDIT_PATTERNS = 40, 7
"""Most disagreements that a model is shown which proposes edits, and most patterns it makes of
them."""

MAX_CAPTURE_REDACTIONS, MAX_CAPTURE_METADATA_NAMES = 20, 16
"""Most patterns that captured calls are redacted by, and most names of metadata that are kept."""
