"""Runs: samples of a deck judged by its graders through the ledger, within a cap."""
