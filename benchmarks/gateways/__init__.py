"""Gateways to language models before one fake of a provider: ours, and LiteLLM's proxy."""
