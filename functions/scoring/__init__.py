"""Lambda functions of the scoring domain."""
