"""The contract between Autotune, its callers and its graders: models, limits and signatures.

Both the platform and the public package import it, and it imports neither.
"""
