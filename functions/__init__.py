"""The Lambda functions: ``<domain>/api.py`` for HTTP, ``<domain>/<verb_noun>.py`` for the rest."""

import gc

# A cold start makes 60,000 objects and no garbage, and Python looked for some 145 times. It stays
# so, because little refers to itself here, and 100,000 such objects are some 20 MB.
gc.set_threshold(100_000)
