"""``apprentice.yaml``: tasks of the apprentice as people write them; it needs the extra ``cli``."""
