"""Graders that a model proposes from a deck's system prompt, and what of them is checked."""
