"""The Lambda functions: ``<domain>/api.py`` for HTTP, ``<domain>/<verb_noun>.py`` for the rest."""

import gc

# A cold start makes some 100,000 objects and no garbage, and Python looked for it some 145 times.
# What is kept from being found later is small too: little refers to itself here, and 100,000 such
# objects are some 20 MB.
gc.set_threshold(200_000)
