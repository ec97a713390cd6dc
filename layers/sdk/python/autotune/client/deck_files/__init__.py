"""Deck files, ``.deck.md``: a deck with its graders as Markdown that people read and edit."""
