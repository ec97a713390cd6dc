"""Limits of requests, and of graders, tasks, completions, reviews, rewards and exports."""

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
