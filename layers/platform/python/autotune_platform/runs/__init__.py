"""Runs: what is told of the executions that have completions graded."""
