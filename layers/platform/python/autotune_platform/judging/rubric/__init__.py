"""Rubric graders: a language model judges, asked through the ledger."""
