"""What tasks of the apprentice are called."""

import re

TASK_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
"""What a task of the apprentice may be called, as a whole."""
