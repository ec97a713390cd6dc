"""Limits of requests to language models, of their connections, batches and imports."""

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
