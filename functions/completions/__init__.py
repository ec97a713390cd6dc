"""Lambda functions of the completions domain."""
