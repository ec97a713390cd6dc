"""Lambda functions of the operations domain."""
