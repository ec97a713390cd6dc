"""Environments of functions, by domain."""
