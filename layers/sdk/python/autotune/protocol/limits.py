"""Limits that a caller can meet, in one place; each error that enforces one names it."""

MAX_REQUEST_BYTES = 5_000_000
"""Largest API request body, in bytes. Lambda takes 6 MB an invocation, envelope included."""

MAX_REQUEST_VALUES = 50_000
"""Most JSON values in a request body of most routes, metadata of 64 KiB included. Strings, numbers,
literals, arrays and objects are values; an array or object that is empty counts as two."""

MAX_BATCH_VALUES = 500_000
"""Most JSON values in ``POST /api/v1/completions/batch``, and in a request to a reward URL that may
ask about many completions, as OpenRLHF's and Nova's."""

MAX_REWARD_VALUES = 200_000
"""Most JSON values in a request to a reward URL that asks about one completion."""

MAX_REGISTRATION_VALUES = 150_000
"""Most JSON values in a request that registers or updates a grader, its configuration included."""

MAX_NAMES = 100
"""Most names in a list of states, of reason codes or of types of events."""

MAX_UNKNOWN_FIELDS = 20
"""Most fields of one object of a request that nobody knows and that are named one by one."""

MAX_FIELD_NAME_CHARACTERS = 200
"""Longest name of a member of an object whose members the caller names."""

MAX_BATCH_COMPLETIONS = 500
"""Most completions in one ``POST /api/v1/completions/batch``."""

MAX_RESCORED_COMPLETIONS = 1_000
"""Most completions in one ``POST /api/v1/completions/rescore``."""

MAX_GENERATIONS = 20
"""How often some completions of one batch may be scored again."""

MAX_GRADER_BATCH = 500
"""Largest ``maxBatchSize`` that a grader may declare."""

MAX_GRADER_CONCURRENCY = 1_000
"""Largest ``maxConcurrency`` that a grader's owner may set."""

MIN_REQUESTS_PER_SECOND = 0.01
MAX_REQUESTS_PER_SECOND = 10_000
"""Range of the ``requestsPerSecond`` that a grader's owner, or a connection's, may set."""

MAX_CERTIFICATE_PINS = 2
"""Most certificates that a grader may be pinned to: the present one and the next."""
MIN_HEDGE_AFTER_MS = 100
MAX_HEDGE_AFTER_MS = 20_000
"""Range of the ``hedgeAfterMs`` that a grader's owner may set; both calls share 30 seconds."""

MIN_CALLBACK_TIMEOUT_SECONDS = 60
MAX_CALLBACK_TIMEOUT_SECONDS = 604_800
"""Range of the ``asyncSettings.timeoutSeconds`` that a grader's owner may set."""

MIN_HEARTBEAT_SECONDS = 60
MAX_HEARTBEAT_SECONDS = 86_400
"""Range of the ``asyncSettings.heartbeatSeconds`` that a grader's owner may set."""

MIN_DEADLINE_SECONDS = 60
MAX_DEADLINE_SECONDS = 604_800
"""Range of a task's ``deadlineSeconds``; without one, the longest applies: no run lives longer."""

MAX_TASK_GRADERS = 10
"""Most graders that a task may name."""

MAX_GRADER_WEIGHT = 1_000
"""Largest ``weight`` of one of a task's graders; the smallest lies above 0."""

MIN_REVIEW_SECONDS = 60
MAX_REVIEW_SECONDS = 604_800
"""Range of a review policy's ``expiresAfterSeconds``."""

MAX_CORRECTION_MINUTES = 1_440
"""Longest ``correctWithinMinutes`` of a review policy; 0 lets nobody correct."""

MOST_CANNOT_JUDGE = 2
"""Reviewers after whose word that they cannot judge a review ends as one that nobody answered."""

MIN_RETENTION_DAYS = 1
MAX_RETENTION_DAYS = 3_650
"""Range of a task's ``retentionDays``; without it, prompts and responses stay until deleted."""

MAX_METADATA_BYTES = 65_536
"""Largest ``metadata`` object, in bytes of compact JSON."""

MAX_METADATA_DEPTH = 64
"""How deep ``metadata`` may nest."""

MAX_NAME_CHARACTERS = 200
MAX_DESCRIPTION_CHARACTERS = 4_000
MAX_PROMPT_TEMPLATE_CHARACTERS = 50_000
MAX_REASONING_CHARACTERS = 20_000
MAX_DIMENSIONS = 50

MAX_BUILTIN_TEMPLATE_CHARACTERS = 10_000
"""Longest template string in a builtin grader's configuration."""

MAX_BUILTIN_TEXT_CHARACTERS = 5_000_000
"""Longest text that a builtin grader's template may come to."""

MAX_SIMILARITY_CHARACTERS = 100_000
"""Longest text that a builtin grader measures the similarity of, either side."""

MAX_FUZZY_COMPARISONS = 5_000_000
"""For ``fuzzy_match``: most characters of one text times characters of the other."""

MAX_NUMERIC_CHARACTERS = 200_000
"""Longest text that a builtin grader looks for a number in."""

MAX_JSON_CHARACTERS = 200_000
"""Longest response that a builtin grader reads as JSON."""

MAX_JSON_SCHEMA_BYTES = 32_768
"""Largest schema of a builtin grader as compact JSON."""

MAX_BUILTIN_STEPS = 50_000
"""How much work validating one JSON value, or finding one number by a pattern, may be.

A step is a keyword that is applied, a member that it looks at, or 1,000 of a pattern's instructions
times a text's bytes.
"""

MAX_JSON_SCHEMA_DEPTH = 200
"""How deep a schema of a builtin grader may nest."""

MAX_JSON_SCHEMA_PATTERNS = 50
"""Most different patterns in a schema of a builtin grader."""

MAX_PATTERN_CHARACTERS = 1_000
"""Longest regular expression in a builtin grader's configuration."""

MAX_PATTERN_INSTRUCTIONS = 20_000
"""Largest program that RE2 may compile a builtin grader's regular expression to."""

MAX_BUILTIN_PATTERNS = 128
"""Most different regular expressions in a builtin grader's configuration."""

MAX_BUILTIN_CPU_SECONDS = 2.0
"""Most processor time for checking a builtin grader's configuration, or for one judgement by its
schemas and patterns."""

MAX_BUILTIN_CONFIGURATION_BYTES = 300_000
"""Largest configuration of a builtin or a rubric grader, as compact JSON."""

MAX_RUBRIC_TEMPLATE_CHARACTERS = 50_000
"""Longest template of a rubric grader's prompt."""

MAX_RUBRIC_LABELS, MAX_RUBRIC_LABEL_CHARACTERS = 100, 200
"""Most labels that a rubric grader's model may choose from, and the longest of them."""

MAX_RUBRIC_PLACES = 90
"""Most different places in the templates of a rubric grader."""

MAX_CALIBRATION_SAMPLES = 10_000
MAX_CALIBRATION_LOOKS = 100_000
"""Most samples that a calibration was measured on."""

MAX_LEVELS_TEXT_CHARACTERS = 400_000
"""Longest system prompt, conversation and response, together, that rubrics are asked about."""

MAX_SHOWN_RATERS = 100
"""Most people whose own κ is shown with a grader's agreement."""

MAX_LEVELS_ANSWER_CHARACTERS = 200_000
"""Longest answer of a judge that is read for a level."""

MAX_MULTI_GRADERS = 20
MAX_EXPRESSION_CHARACTERS = 500
MAX_EXPRESSION_DEPTH = 20
"""Most graders of a ``multi`` grader; longest ``calculateOutput``, and how deep it may nest."""

MAX_VERDICT_LABELS = 100
MAX_LABEL_CHARACTERS = 100
MAX_ABSTAIN_WORDS = 10
"""Most labels of a verdict format, longest of them, and most words beside ``ABSTAIN``."""

MAX_VERDICT_CHARACTERS = 10_000
"""Longest verdict: what stands behind ``VERDICT:`` in a model's answer."""

MAX_VERDICT_NUMBER = 1_000_000_000_000_000
"""Largest number, of either sign, that a verdict or its range may be."""

MAX_FILLED_CHARACTERS = 5_000_000
"""Longest text of a request to a language model, once variables are put in."""

MAX_WEBHOOKS = 20
"""Most webhooks of one organisation."""

MIN_SESSION_MINUTES = 5
MAX_SESSION_MINUTES = 720
"""Range of the ``expiresInMinutes`` of a session of the console."""
DEFAULT_SESSION_MINUTES = 480

MAX_SESSION_CODE = 200
"""Longest code of a session that is looked at, in characters."""
MAX_EXCHANGE_BYTES = 4_096
"""Largest body of ``POST /api/v1/sessions/exchange``, which nobody signs."""

MAX_AUTHORIZATION_CODE = 4_096
"""Longest authorization code of an OpenID provider that is passed on, in characters."""

MIN_REVIEW_LINK_SECONDS = 60
MAX_REVIEW_LINK_SECONDS = 604_800
"""How long a reviewer's link may hold."""

MAX_SKIPPED_REVIEWS = 200
"""Most reviews that a reviewer may skip at a time."""

MAX_REWARD_WAIT_SECONDS = 870
"""Longest ``?wait=`` of a reward URL: its function ends after 15 minutes, as every Lambda does."""

MAX_REWARD_QUESTIONS = 500
"""Most completions in one request to a reward URL."""

MAX_ECHOED_REWARD_BYTES = 2_500_000
"""Largest request to a reward URL whose answer repeats it, as NeMo Gym's does: Lambda returns 6 MB
at most, in which the answer may be twice as long as it is."""

MAX_REWARD_STOPS = 4
MAX_REWARD_STOP_CHARACTERS = 100
"""Most ``?stop=`` of a reward URL, and how long each may be."""

MAX_PAGE_ITEMS = 200
"""Most items on one page of a list."""

EXPORT_DAYS = 7
"""How long an export and its files are there, from its creation."""

EXPORT_LINK_SECONDS = 900
"""How long a link to one of an export's files holds."""

MAX_OPEN_EXPORTS = 5
"""Most exports of one organisation that are pending or running at the same time."""

MAX_EXPORT_PAIRS = 10_000_000
"""Most preference pairs in one export."""

MAX_EXPORT_CANDIDATES = 10_000_000
"""Most scored completions that are paired in one export: as many as one step has time for."""

MAX_EXPORT_PARTS = 1_000
"""Most parts of one export; one holds at most 100,000 records or 256 MB before compression."""

MAX_EXPORT_SEED = 2**53 - 1
"""Largest seed: the largest integer that every JSON reader keeps."""

MAX_PAIRED_COMPLETIONS = 100
"""Most completions of one prompt that are paired each with each; the others are left out."""

MAX_STEP_SEPARATOR_CHARACTERS = 100

MAX_DIRECT_EXPORT_RECORDS = 1_000
MAX_DIRECT_EXPORT_BYTES = 4_000_000
"""Largest ``GET /api/v1/scores/export``, in verdicts that match and in bytes before compression.

Lambda returns 6 MB, and what is no text a third longer than it is.
"""

MAX_AUDIT_DAYS = 90
"""How far back the audit log can be read over the API; the export goes back to its beginning."""

MAX_STATISTICS_VERSIONS = 50
"""Most versions that a grader's statistics list; those with most verdicts."""

MAX_WINDOW_SERIES = 50
"""Most models and versions that figures of a window have by name; the rest are ``other``."""

MAX_WAIT_SECONDS = 20
"""Longest ``?wait=``: below the 30 s after which API Gateway answers 503 by itself."""

MAX_GRADER_REQUEST_BYTES = 6_000_000
"""Largest request body that a grader has to read, in bytes; Lambda's own limit too."""

MAX_GRADER_RESPONSE_BYTES = 4_000_000
"""Largest grader response that the gateway reads, in bytes."""

MAX_GRADER_RESPONSE_VALUES = 1_000
MAX_GRADED_COMPLETION_VALUES = 500
"""Most JSON values in a grader's response: 1,000, and 500 for each completion that it was asked
about. A score with fifty dimensions has some 260."""

MAX_HEALTH_RESPONSE_BYTES = 100_000
"""Largest answer to ``GET /health``, in bytes; it may have 1,000 JSON values."""

SIGNATURE_TOLERANCE_SECONDS = 300
"""How far a signature's timestamp may be from the verifier's clock, either way."""

MAX_HEADER_BYTES = 65_536
"""Most bytes of names and values of all headers in a request to a grader that is an ASGI app."""

MAX_SIGNATURES = 8
MAX_SIGNATURE_HEADER_CHARACTERS = 1_024
"""Most signatures in one header, of any version, and the header's greatest length. A rotation needs
two; each one more would be compared for whoever sends them."""

MAX_LLM_ROWS = 1_000
"""Most requests in one ``POST /api/v1/llm-requests/batch``."""

MAX_OPEN_LLM_BYTES, MIN_OPEN_LLM_BYTES = 20_000_000_000, 100_000_000
"""Most bytes that requests of one organisation that have not ended ask together, unless operators
set another number, and the lowest that they may set: a chunk of an import has room in it."""

MAX_LLM_COMPLETE_BY_DAYS = 3_650
"""How far ahead a request's ``completeBy`` may be."""

MAX_LLM_ROWS_VALUES = 300_000
"""Most JSON values in ``POST /api/v1/llm-requests/batch``."""

MAX_LLM_LABELS = 16
MAX_LLM_LABEL_CHARACTERS = 128
"""Most free labels of a request to a language model, and how long their names and values may be."""

MAX_LLM_VARIABLES = 100
"""Most variables of a request to a language model."""

MAX_LLM_MESSAGES, MAX_LLM_MESSAGE_PARTS = 1_000, 100
"""Most messages of a conversation with a language model, and most texts of one of them."""

MAX_LLM_OUTPUT_TOKENS = 1_000_000
"""Largest ``maxTokens`` of a request to a language model."""

MAX_LLM_EXTRA_BYTES = 65_536
"""Largest ``extra`` and ``responseFormat``, in bytes of compact JSON."""

MAX_LLM_STOPS = 4
MAX_LLM_STOP_CHARACTERS = 200
"""Most ``stop`` sequences of a request to a language model, and how long each may be."""

MAX_LLM_PURPOSE_CHARACTERS, MAX_LLM_MODEL_CHARACTERS = 64, 200

MAX_LLM_KEY_CHARACTERS = 2_048
"""Longest key of a provider of language models."""

MAX_LLM_CONCURRENCY = 64
"""Most calls of one connection at the same time."""

MAX_LLM_BATCH_ROWS, MIN_LLM_BATCH_BYTES, MAX_LLM_BATCH_BYTES = 50_000, 100_000, 200_000_000
"""Most rows of one batch, and what the most bytes of its input may be set to."""

MAX_LLM_WAIT_SECONDS = 86_400
"""Longest that queued rows may wait for others to share a batch with."""

MIN_LLM_CALL_SECONDS = 1
MAX_LLM_CALL_SECONDS = 240
"""How long one call of a language model may take: a step that asks it has five minutes."""

MAX_LLM_ATTEMPTS = 5
"""How often a request to a language model is tried."""

MAX_LLM_PARSES, MAX_LLM_PARSE_BYTES = 20, 200_000
"""How often one answer is parsed, each time as a version of its own, and most bytes of what later
parses of it read, compressed."""

MAX_LLM_REASKS = 2
"""How often a request is asked again, as a new one, because its verdict cannot be read."""

MAX_LLM_PRICED_MODELS = 200
"""Most models that a connection has prices of its own for."""

MIN_LLM_ENQUEUED_TOKENS, MAX_LLM_ENQUEUED_TOKENS = 1_000, 1_000_000_000_000
MAX_LLM_ENQUEUED_ROWS, MAX_LLM_OPEN_JOBS = 10_000_000, 10_000
MAX_LLM_CREATIONS_PER_HOUR = 10_000
"""What limits of a connection's jobs may be set to, where the provider has none that is lower."""

MAX_LLM_CUSTOM_ID_CHARACTERS = 512
"""Longest ``customId`` of a request to a language model, the caller's own name of it."""

MAX_LLM_IMPORT_BYTES = 200_000_000
"""Largest file of requests to language models that is imported."""

MAX_LLM_IMPORT_LINE_BYTES = 5_000_000
"""Longest line of an imported file; as long as a request of the API may be."""

MAX_LLM_IMPORT_REJECTED = 100_000
"""Most lines that one import rejects; with one more it ends: its format is another."""

MAX_LLM_IMPORT_LISTED = 20
"""Most rejected lines that an import itself lists; its report has all."""

MAX_OPEN_LLM_IMPORTS = 5
"""Most imports of one organisation that are under way at the same time."""

LLM_IMPORT_DAYS = 7
"""How long an import and its files are there, from its creation."""

LLM_IMPORT_LINK_SECONDS = 3_600
"""How long a link to upload a file, or to fetch a report, holds."""

MAX_LLM_TOKENS = 100
"""Most tokens for OpenAI's batch API that an organisation has at a time, revoked ones aside."""

MAX_LLM_FILE_BYTES, MAX_LLM_FILE_LINES = 4_000_000, 5_000
"""Largest file that ``/v1/files`` takes, and its most lines; a larger one is imported."""

MAX_DECKS = 1_000
"""Most decks of one organisation."""

MAX_DECK_GRADERS, MAX_DECK_VERSIONS, MAX_DECK_SAMPLES = 20, 200, 10_000
"""Most graders of a deck, most versions of a deck or of one of its graders, most samples of one."""

MAX_DECK_PROMPT_CHARACTERS, MAX_DECK_PLACEHOLDERS = 50_000, 100
"""Longest system prompt of a deck, and most different placeholders in it."""

MAX_PROMPT_TEMPLATES, MAX_PROMPT_TEMPLATE_CHARACTERS = 500, 2_000_000
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

MAX_APPRENTICE_TASKS, MAX_APPRENTICE_CONFIGURATIONS = 100, 500
"""Most tasks of the apprentice that an organisation has, and most configurations of one."""

MAX_APPRENTICE_VERSIONS, MAX_SERVED_MODEL_CHARACTERS = 200, 500
"""Most versions of the small model that a task ever has, and longest name of a model that is
served."""

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
