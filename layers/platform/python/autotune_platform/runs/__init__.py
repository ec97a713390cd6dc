"""Runs: records of the executions that have completions graded, and their waits."""
