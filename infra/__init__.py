"""The CDK app: its configuration, constructs and stacks."""
