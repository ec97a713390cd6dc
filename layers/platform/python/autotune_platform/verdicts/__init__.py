"""Verdicts and opinions: what they are, how they are stored and found."""
