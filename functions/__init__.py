"""The Lambda functions: ``<domain>/api.py`` for HTTP, ``<domain>/<verb_noun>.py`` for the rest."""

import gc

# Imports make tens of thousands of objects and no garbage: looking for some took a tenth of a cold
# start.
gc.set_threshold(20_000)
