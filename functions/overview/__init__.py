"""What happened over time."""
