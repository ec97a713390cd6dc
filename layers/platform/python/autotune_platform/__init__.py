"""Autotune's server side: one folder for each domain, called by the Lambda functions."""
