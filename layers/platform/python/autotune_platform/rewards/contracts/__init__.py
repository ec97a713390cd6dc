"""The request and answer formats of trainers: one module for each contract."""
