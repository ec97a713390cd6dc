"""When a small model may answer in place of a paid one: evidence, sampling, phases and routing."""
