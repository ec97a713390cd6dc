"""Functions of the apprentice."""
