"""Lambda functions of the projections domain."""
