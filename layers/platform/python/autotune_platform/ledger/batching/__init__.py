"""Sending a batch as a provider's job: written, created once, looked at, and brought home."""
