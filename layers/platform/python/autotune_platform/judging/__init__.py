"""Judges: what each kind of grader makes of completions."""
