"""The Lambda functions: ``<domain>/api.py`` for HTTP, ``<domain>/<verb_noun>.py`` for the rest."""
