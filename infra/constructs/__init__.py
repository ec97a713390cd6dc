"""Constructs with secure defaults, composed by the stacks."""
