"""Lambda functions of the audit domain."""
