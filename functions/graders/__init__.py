"""Lambda functions of the graders domain."""
