"""Lambda functions of the access domain."""
