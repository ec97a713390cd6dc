"""What follows from verdicts: counters, statistics, metering, audit, events."""
