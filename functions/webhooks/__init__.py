"""Lambda functions of the webhooks domain."""
