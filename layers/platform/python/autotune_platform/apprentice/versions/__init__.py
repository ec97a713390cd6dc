"""Versions of a task's small model: which are served, and which of them may answer."""
