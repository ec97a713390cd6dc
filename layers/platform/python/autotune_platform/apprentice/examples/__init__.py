"""Examples: what the paid model answered, or people said, for a small model to learn from."""
