"""Capture: chat completions that were passed through become samples of decks."""
