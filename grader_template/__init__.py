"""What a grader owner copies: a grader, its tests and the stack that deploys it."""
