"""The overview: what an organisation's completions came to, and what stands in their way."""
