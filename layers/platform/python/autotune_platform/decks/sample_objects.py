"""Names of the objects that hold texts of samples."""

CONTENT = "content"
"""Sort key of the item that holds a sample's texts, and prefix of the object's name."""


def object_prefix(deck_id: str) -> str:
    """Return what the names of all objects of a deck's samples start with."""
    return f"{CONTENT}/{deck_id}/"


def object_key(deck_id: str, sample_id: str) -> str:
    """Return the name of the object with a sample's texts."""
    return object_prefix(deck_id) + sample_id
