"""From ended runs to evidence: counts, pairs in their order, and what a version's pairs say."""
