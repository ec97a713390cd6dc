"""The Lambda functions: ``<domain>/api.py`` for HTTP, ``<domain>/<verb_noun>.py`` for the rest."""

import gc

# A cold start makes some 100,000 objects and no garbage, and Python looked for it some 145 times.
# Later, up to 200,000 objects of garbage may wait, some 40 MB of 512; little refers to itself here.
gc.set_threshold(200_000)
