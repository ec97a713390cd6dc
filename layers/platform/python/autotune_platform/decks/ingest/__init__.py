"""Ingest URLs, and what is handed over at them."""
