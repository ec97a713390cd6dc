"""A language model that is none: it tells what a customer of a bank wants, by words.

It stands in for a paid model, so that a small one can be trained without a key, and without costs:
``python examples/language_models/intent_teacher.py --port 8081``.
"""

import json
from collections.abc import Sequence

MODEL = "intent-teacher"
WORDS = {
    "block_card": ("stolen", "lost", "block"),
    "exchange_rate": ("euros", "pounds", "rate"),
    "balance": ("balance", "left", "account"),
    "transfer": ("send", "transfer", "pay"),
}
OTHER = "person"


def tell(texts: Sequence[str]) -> str:
    """Return the intent as JSON: the first with a word in the last text, which is the question."""
    words = set(texts[-1].lower().replace("?", " ").replace(".", " ").split())
    found = next((intent for intent, own in WORDS.items() if words.intersection(own)), OTHER)
    return json.dumps({"intent": found})


if __name__ == "__main__":
    from chat_server import serve  # beside this file, which is run as a script

    serve(model=MODEL, answering=tell, description=__doc__)
