"""Batch jobs of providers: how each takes a batch, tells how far it is, and gives the results."""
