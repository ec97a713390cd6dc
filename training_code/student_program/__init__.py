"""Trains an adapter of a base model from rows of a task, in SageMaker's script mode.

It runs on a prebuilt image of Hugging Face without a network: all that it reads are channels, and
nothing is installed. What it prints and what it says of a failure has no text of a row.
"""
