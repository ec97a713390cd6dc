"""Projects verdicts into events, statistics, metering and audit entries."""
