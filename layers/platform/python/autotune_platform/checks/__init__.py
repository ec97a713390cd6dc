"""Graders that Autotune is itself: text against text, number against number, JSON against schema.

Nothing here reads a table or calls anybody; work on a caller's text and patterns is bounded.
"""
