"""Runs of the apprentice: one input of a task, who was asked about it, and who answered."""
