"""Functions of OpenAI's batch API."""
