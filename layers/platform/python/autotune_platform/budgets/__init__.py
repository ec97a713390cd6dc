"""How much may be called at the same time and how often, and which circuits are open."""
