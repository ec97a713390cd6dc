"""Counts by time: what an organisation, a task and a grader had in each hour, and in each day."""
