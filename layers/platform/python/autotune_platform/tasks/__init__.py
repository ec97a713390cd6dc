"""Tasks: what is to be scored, and by which grader."""
