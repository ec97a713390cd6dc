"""Asking the small model, wherever it runs."""
