"""OpenAI's batch API, as far as it serves imports and their rows: files and batches."""
