"""What operators see of a task: where it stands, what became of it, how long it takes yet."""
