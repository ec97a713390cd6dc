"""Completions: accepted durably, read back, and handed on to be scored."""
