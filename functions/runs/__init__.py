"""Lambda functions of the runs domain."""
