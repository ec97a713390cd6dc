"""Graders that Autotune is itself."""
