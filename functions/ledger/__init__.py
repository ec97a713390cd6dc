"""Lambda functions of the ledger."""
