"""Seeded simulations of what statistics of decks promise: how often intervals hold the truth, and
what becomes of edits. ``python -m tests.simulations`` prints all of it with the nominal values."""
