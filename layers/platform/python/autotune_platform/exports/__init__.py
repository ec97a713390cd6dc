"""Exports: scores as training data, written part by part in a loop of steps."""
