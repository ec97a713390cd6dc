"""Graders of decks as graders that score: immutable snapshots, with what was measured of them."""
