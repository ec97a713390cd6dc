"""The apprentice: a small model learns from a paid one, and answers while the evidence says so."""
