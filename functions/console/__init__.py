"""The Lambda function that serves the pages of console and review."""
