"""Seeded simulations of what statistics promise: how often intervals of decks hold the truth, what
becomes of edits, and when versions of an apprentice graduate. ``python -m tests.simulations``
prints all of it with the nominal values."""
