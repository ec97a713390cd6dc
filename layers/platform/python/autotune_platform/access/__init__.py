"""Organisations, API keys, signatures and permissions."""
