"""Lambda functions of the tasks domain."""
