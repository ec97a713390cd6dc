"""Decks: system prompts, and the samples and rubric graders that go with each."""
