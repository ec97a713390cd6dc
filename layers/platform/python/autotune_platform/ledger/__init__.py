"""The ledger: every call of a language model is a row, paid once, whose answer comes home."""
