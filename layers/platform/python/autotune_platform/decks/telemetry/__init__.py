"""Calls that were captured: which deck's prompt they have, and what becomes of the others."""
