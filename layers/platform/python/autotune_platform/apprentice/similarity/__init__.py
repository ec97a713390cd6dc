"""How alike two answers are in meaning: the cosine of their embeddings (ADR 0095)."""
