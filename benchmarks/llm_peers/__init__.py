"""What other people's clients of batch APIs do where a provider goes wrong: run on the fake."""
