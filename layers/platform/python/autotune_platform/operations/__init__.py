"""Looking after what got stuck."""
