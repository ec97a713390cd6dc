"""Limits on concurrency and rate, and circuit breakers."""
