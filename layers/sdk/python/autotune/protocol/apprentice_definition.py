"""What of a configuration evidence rests on: what is asked, who is right, how two are compared."""

import hashlib
from collections.abc import Mapping
from typing import Any

from autotune.protocol.compact_json import compact_sorted

_DEFINING = ("systemPrompt", "promptTemplate", "inputSchema", "outputSchema", "evaluator")
_OF_TEACHER = ("connectionId", "model", "maxOutputTokens")


def definition_hash(document: Mapping[str, Any]) -> str:
    """Return the hash of a definition: SHA-256, 64 hexadecimal digits.

    It changes with the prompts, the schemas, the evaluator and the teacher, and with nothing else:
    evidence of another definition counts no more. Order of keys is no difference.

    Args:
        document: a configuration as it is on the wire.
    """
    teacher = document["remote"]["primary"]
    defining = {name: document[name] for name in _DEFINING}
    defining["teacher"] = {name: teacher[name] for name in _OF_TEACHER}
    text = compact_sorted(defining)
    return hashlib.sha256(text.encode()).hexdigest()
