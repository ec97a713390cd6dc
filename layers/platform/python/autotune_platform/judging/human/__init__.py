"""People who judge: their reviews as records."""
