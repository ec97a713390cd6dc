"""A fake of the providers of language models, with a bill of its own.

It imports nothing of the product. ``python -m tests.providers --port 8900 --seed 1`` runs it as a
process; `tests.providers.server.serve` runs it in a thread of a test.
"""
