"""Small models that are trained here."""
