"""Where versions are hosted at SageMaker: made at run time, asleep when idle, taken down after."""
