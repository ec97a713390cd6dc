"""Stacks: they compose constructs and issue the grants between them."""
