"""Verdicts: how completions come to them, and how they are read."""
